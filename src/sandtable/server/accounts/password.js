// Sends the form as JSON, and opens the page that was wanted. What goes wrong is shown above the buttons.
const form = document.getElementById("change");
const problem = document.getElementById("problem");
const buttons = form.querySelectorAll("button");
const headers = { "Content-Type": "application/json", "X-Sandtable-CSRF": "1" };

function wanted() {
  const address = new URL(form.dataset.after, location.origin);
  return address.origin === location.origin ? address : new URL("/", location.origin);
}

async function change() {
  if (form.elements.new.value !== form.elements.again.value) {
    problem.textContent = "The new passwords are not the same.";
    return;
  }
  const body = JSON.stringify({ old: form.elements.old.value, new: form.elements.new.value });
  const answer = await fetch("/me/password", { method: "PUT", headers, body });
  if (answer.ok) {
    location.replace(wanted());
    return;
  }
  const { error } = await answer.json();
  problem.textContent = `${error.message}. ${error.suggestion}`;
}

async function leave() {
  await fetch("/logout", { method: "POST", headers });
  location.replace("/login");
}

async function done(act) {
  problem.textContent = "";
  for (const button of buttons) button.disabled = true;
  try {
    await act();
  } catch {
    problem.textContent = "The server cannot be reached. Try again.";
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  done(change);
});
document.getElementById("leave").addEventListener("click", () => done(leave));
