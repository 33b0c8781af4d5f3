// Another model in place of the one that is shown: its texts and pictures are in the page already.
const places = [...document.querySelectorAll("[data-slot]")];
const first = Object.fromEntries(places.map((place) => [place.dataset.slot, [...place.childNodes]]));

function partsOf(view) {
  if (view === 0) return first;
  const content = at(`view-${view}`).content.cloneNode(true);
  return Object.fromEntries([...content.children].map((part) => [part.dataset.part, [...part.childNodes]]));
}

function showClass() {
  const chosen = at("curve-class");
  for (const part of document.querySelectorAll("[data-class]")) part.hidden = part.dataset.class !== chosen?.value;
}

const sizes = PAGE.views.map((view, i) => ({ i, size: view.size, isSize: view.isSize }))
  .filter(({ isSize }) => isSize)
  .sort((one, other) => one.size - other.size);

function showView(view) {
  if (view !== state.view) {
    const parts = partsOf(view);
    for (const place of places) place.replaceChildren(...(parts[place.dataset.slot] ?? []));
  }
  state.view = view;
  const { name, size, isSize, verdict, file, threshold } = shownView();
  if (at("size") !== null) {
    const step = sizes.findIndex(({ i }) => i === view);
    if (isSize) at("size").value = String(step);
    at("size").setAttribute("aria-valuetext", name);
    at("size-value").textContent = name;
    for (const dot of document.querySelectorAll("[data-size]")) {
      dot.classList.toggle("now", isSize && Number(dot.dataset.size) === size);
    }
  }
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.view) === view));
  }
  for (const place of document.querySelectorAll("[data-file]")) place.textContent = file;
  write(at("verdict"), verdict);
  if (state.isOwn) state.threshold = threshold;
  showClass();
  if (isTwo) showThreshold();
  if (at("panel") !== null) showFields();
  updatePanel();
}

// The model as it is shown, with the threshold that is set.
function modelText() {
  const { json } = shownView();
  return isTwo ? json.replace(/("decision_threshold":\s*)[^,\s}]+/, `$1${state.threshold}`) : json;
}

function saveModel() {
  const link = document.createElement("a");
  const { file } = shownView();
  link.href = URL.createObjectURL(new Blob([modelText()], { type: "application/json" }));
  link.download = file;
  link.click();
  URL.revokeObjectURL(link.href);
}

for (const part of document.querySelectorAll("[data-live]")) part.hidden = false;
if (at("size") !== null) at("size").addEventListener("input", () => showView(sizes[Number(at("size").value)].i));
for (const button of document.querySelectorAll("[data-view]")) {
  button.addEventListener("click", () => {
    showView(Number(button.dataset.view));
    at("verdict").scrollIntoView({ block: "nearest" });
  });
}
at("save-model").addEventListener("click", saveModel);
at("curve-class")?.addEventListener("input", showClass);
if (at("panel") !== null) load(PAGE.fields.map((field) => field.start));
showView(0);
