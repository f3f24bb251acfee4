// The page: reads its content, checks it, and shows what was checked.
import { h } from "./element.js";
import { checked } from "./checks.js";
import { answer, limits, listOf, row, ticked, verdict } from "./parts.js";

export async function begin(document, families) {
  const place = document.getElementById("page");
  try {
    place.replaceChildren(...(await shown(JSON.parse(document.getElementById("content").textContent), families)));
  } catch (error) {
    place.replaceChildren(h("p", { className: "verdict broken", role: "alert", "data-state": "broken" }, ...ticked(`Nothing on this page was checked: ${reason(error)} \`sandtable verify FILE\` checks the file.`)));
  }
  document.documentElement.dataset.ready = "true";
  window.addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details:not(.inner)")) one.open = true; });
}

const reason = (error) => (globalThis.crypto?.subtle ? `its content cannot be read (${error.message}).` : "this browser computes digests only for files opened from disk and for pages over https.");

async function shown(content, families) {
  if (content.format !== "sandtable.page/1") throw new Error("it is of another format");
  const { records, page } = await checked(content, families);
  const answers = page.said?.answers || records.map(({ payload }) => ({ question: "", sentence: "", reading: "", note: "", columns: [], capsules: [payload] }));
  const title = page.said?.title || "Answers";
  document.title = title;
  let next = 0;
  const articles = answers.map((said, number) => {
    const own = records.slice(next, next + said.capsules.length);
    next += said.capsules.length;
    return answer(said, own, number);
  });
  const left = records.slice(next);
  return [
    h("header", null, h("p", { className: "brand" }, "Sandtable · answers with their proof"), articles.length > 1 && h("h1", null, title), verdict(records, page),
      page.said && h("p", { className: "quiet" }, `Made ${page.said.made_at.replace("T", " ").replace("Z", " UTC")} by ${page.said.made_by}.`)),
    ...articles,
    ...(left.length ? [h("article", null, h("h2", null, "Records that no answer names"), left.map(({ links }) => listOf(links.map(row))))] : []),
    h("details", { "data-part": "words", open: page.links.some(({ status }) => status === "broken") }, h("summary", null, "The words of this page: what was checked"), listOf(page.links.map(row))),
    limits(),
  ];
}
