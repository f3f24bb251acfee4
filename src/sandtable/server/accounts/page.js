// Sends the form as JSON, and opens the page that was wanted. What goes wrong is shown above the button.
const form = document.getElementById("sign-in");
const problem = document.getElementById("problem");
const button = form.querySelector("button");

function wanted() {
  const address = new URL(form.dataset.after, location.origin);
  return address.origin === location.origin ? address : new URL("/", location.origin);
}

async function signIn() {
  const body = JSON.stringify({ name: form.username.value, password: form.password.value });
  const headers = { "Content-Type": "application/json", "X-Sandtable-CSRF": "1" };
  const answer = await fetch("/login", { method: "POST", headers, body });
  if (answer.ok) {
    location.replace(wanted());
    return;
  }
  const { error } = await answer.json();
  problem.textContent = `${error.message}. ${error.suggestion}`;
  form.password.select();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  button.disabled = true;
  try {
    await signIn();
  } catch {
    problem.textContent = "The server cannot be reached. Try again.";
  } finally {
    button.disabled = false;
  }
});
