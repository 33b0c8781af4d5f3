// The state of the page, and the decision of the model that is shown, at the threshold that is set.
const built = MODELS.map(() => null);
const state = { view: 0, threshold: PAGE.views[0].threshold, isOwn: true };
const shownView = () => PAGE.views[state.view];
const shownModel = () => (built[state.view] ??= MODELS[state.view]());
const isTwo = PAGE.classes.length === 2;

const soleOwner = (model) => (isTwo && model.OWNERS.every((one) => one === model.OWNERS[0]) ? model.OWNERS[0] : null);

// What scores are compared with, in points: the score of the class without prototypes, or what is added to each class.
function cutOf(model) {
  if (state.isOwn) return model.CUT ?? 0;
  const cut = state.threshold === 0.5 ? 0 : Math.log(state.threshold / (1 - state.threshold)) / model.SCALE;
  return model.OWNERS[0] === 1 ? cut : -cut;
}

function offsetsOf(model) {
  if (state.isOwn || !isTwo) return model.OFFSETS;
  if (state.threshold === 0.5) return null;
  const cut = Math.log(state.threshold / (1 - state.threshold)) / model.SCALE;
  return [Math.min(cut, 0), Math.min(-cut, 0)];
}

// The prototype that decides and the position of the class, from the scores.
function decide(model, z) {
  if (state.isOwn || !isTwo) return model.winner(z);
  const owner = soleOwner(model);
  const offsets = owner === null ? offsetsOf(model) : null;
  const shifted = offsets === null ? z : z.map((one, j) => one + offsets[model.OWNERS[j]]);
  const order = shifted.map((_, j) => j).sort((i, j) => model.OWNERS[i] - model.OWNERS[j] || i - j);
  let best = order[0];
  for (const j of order) if (shifted[j] > shifted[best]) best = j;
  if (owner === null) return { prototype: best, label: model.OWNERS[best] };
  const cut = cutOf(model);
  const lost = owner === 1 ? z[best] <= cut : z[best] < cut;
  return { prototype: best, label: lost ? 1 - owner : owner };
}
