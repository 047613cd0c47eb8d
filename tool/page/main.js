// SPDX-License-Identifier: MIT
// page/main.js -- puts the parts together; pointer and keys
//
// An address with #from=NS&to=NS shows that span of time.

const find = (id) => document.getElementById(id);
const scroller = find("scroller");
const bars = find("bars");
const ruler = find("ruler");
const started = performance.now();

const model = new Model();
const hover = new Hover(find("hover"));
const statistics = {read: performance.now() - started, firstPaint: 0, paint: 0, frames: 0};
let pending = 0;
const repaint = () => { pending ||= requestAnimationFrame(paint); };
const view = new View(model.end, repaint);
const layout = new Layout(model, find("names"), repaint);
const painter = new Painter(model, view, layout);

/// The empty context of a canvas. Its unit is a pixel of the page.
function cleanContext(canvas, width, height) {
  const scale = devicePixelRatio;
  const columns = Math.round(width * scale), lines = Math.round(height * scale);
  if (canvas.width !== columns || canvas.height !== lines) {
    canvas.width = columns;
    canvas.height = lines;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d", {alpha: false});
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  return context;
}

function clipToTime(context, height) {
  context.save();
  context.beginPath();
  context.rect(view.left, 0, view.width, height);
  context.clip();
}

function paint() {
  pending = 0;
  const begin = performance.now();
  const width = scroller.clientWidth, height = scroller.clientHeight, top = scroller.scrollTop;
  const context = cleanContext(bars, width, height);
  clipToTime(context, height);
  painter.paint(context, top, height);
  for (const run of runsInView()) paintSkew(context, run, view, height);
  const arrows = paintArrows(context, model, view, layout, top);
  context.restore();
  const above = cleanContext(ruler, ruler.clientWidth, ruler.clientHeight);
  clipToTime(above, ruler.clientHeight);
  paintRuler(above, view, ruler.clientHeight);
  above.restore();
  find("status").textContent = `${timeText(view.length)} in view` +
      (arrows === null ? "; zoom in to see the arrows" : "");
  statistics.paint = performance.now() - begin;
  statistics.firstPaint ||= performance.now();
  ++statistics.frames;
}

/// The runs of regions that are wide enough to show their skew.
function runsInView() {
  const least = 60 * view.perPixel;
  if (chosen && chosen.end - chosen.begin >= least) return [chosen];
  const first = firstFrom(0, model.runs.length, (i) => model.runs[i].begin >= view.begin);
  const shown = [];
  for (let i = first; i < model.runs.length && model.runs[i].begin < view.end && i < first + 200; ++i) {
    if (model.runs[i].end - model.runs[i].begin >= least && model.runs[i].members > 1) shown.push(model.runs[i]);
  }
  return shown.length > 8 ? [] : shown;
}

let chosen = null;  // a run of a region

function choose(run) {
  chosen = run;
  view.showSpan(run.begin, run.end);
}

/// Chooses the run after or before the chosen one; if none is chosen, the next one on that side of the middle of the
/// view.
function step(direction) {
  const {runs} = model;
  if (runs.length === 0) return;
  const middle = view.begin + view.length / 2;
  const next = firstFrom(0, runs.length, (i) => runs[i].begin >= middle);
  const here = chosen ? runs.indexOf(chosen) : direction > 0 ? next - 1 : next;
  choose(runs[Math.min(Math.max(here + direction, 0), runs.length - 1)]);
}

// --- pointer ---

const pointOf = (event) => {
  const box = scroller.getBoundingClientRect();
  return {x: event.clientX - box.left, y: event.clientY - box.top + scroller.scrollTop};
};

function wheel(event) {
  const {x} = pointOf(event);
  if (x < view.left) return;  // over the names: scrolls
  event.preventDefault();
  const unit = event.deltaMode === 0 ? 1 : 30;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    view.move((event.deltaX || event.deltaY) * unit);
  } else {
    view.zoom(Math.exp(event.deltaY * unit * 0.002), x);
  }
}

let drag = null;  // {x, last, isMarking}

function press(event) {
  const {x} = pointOf(event);
  if (x < view.left || event.button !== 0) return;
  drag = {x, last: x, isMarking: event.shiftKey};
  scroller.setPointerCapture(event.pointerId);
  scroller.focus({preventScroll: true});
}

function markedBox(x) {
  const marked = find("marked");
  marked.hidden = false;
  marked.style.left = `${Math.min(drag.x, x)}px`;
  marked.style.width = `${Math.abs(x - drag.x)}px`;
}

function point(event) {
  const {x, y} = pointOf(event);
  if (!drag) {
    hover.show(thingAt(model, view, layout, x, y), event.clientX, event.clientY);
  } else if (drag.isMarking) {
    markedBox(x);
    drag.last = x;
  } else {
    view.move(drag.last - x);
    drag.last = x;
  }
}

function release() {
  if (drag?.isMarking && Math.abs(drag.last - drag.x) > 3) {
    const [from, to] = [drag.x, drag.last].sort((a, b) => a - b).map((x) => view.time(x));
    view.show(from, to - from);
  }
  find("marked").hidden = true;
  drag = null;
}

function zoomToSlice(event) {
  const {x, y} = pointOf(event);
  const thing = thingAt(model, view, layout, x, y);
  if (thing?.end > thing?.begin) view.showSpan(thing.begin, thing.end);
}

scroller.addEventListener("wheel", wheel, {passive: false});
scroller.addEventListener("pointerdown", press);
scroller.addEventListener("pointermove", point);
scroller.addEventListener("pointerup", release);
scroller.addEventListener("pointercancel", release);
scroller.addEventListener("pointerleave", () => hover.show(null));
scroller.addEventListener("dblclick", zoomToSlice);
scroller.addEventListener("scroll", repaint);

// --- keys ---

const middle = () => view.left + view.width / 2;
const KEYS = {
  "+": () => view.zoom(0.7, middle()), "=": () => view.zoom(0.7, middle()), w: () => view.zoom(0.7, middle()),
  "-": () => view.zoom(1 / 0.7, middle()), s: () => view.zoom(1 / 0.7, middle()),
  ArrowLeft: () => view.move(-view.width * 0.15), a: () => view.move(-view.width * 0.15),
  ArrowRight: () => view.move(view.width * 0.15), d: () => view.move(view.width * 0.15),
  n: () => step(1), p: () => step(-1), 0: () => showAll(), Home: () => showAll(),
};

function showAll() {
  chosen = null;
  view.showAll();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

// --- begin ---

function showAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const [from, to] = [Number(asked.get("from")), Number(asked.get("to"))];
  if (to > from) view.show(from, to - from);
  else if (model.dropped) view.showSpan(...model.window);
  else view.showAll();
}

/// Which records are missing, and what follows from that.
function lossInWords() {
  const [from, to] = model.window;
  const whose = model.threads.filter((each) => each.lost).map((each) => each.name).join(", ");
  return `${counted(model.dropped, "record")} lost, the oldest` + (whose ? ` of ${whose}: hatched. ` : ". ") +
      `The tables are of ${timeText(from)} to ${timeText(to)}, of which there are all. ` +
      "LOCKSTEP_TRACE=FILE,records=1M keeps more.";
}

function chooseWorst(region) {
  const run = model.runs.find(({begin, end}) => begin === region.worstBegin && end - begin === region.worst);
  if (run && !region.isSerial) return choose(run);
  chosen = null;
  view.showSpan(region.worstBegin, region.worstBegin + region.worst);
}

find("about").textContent = `${counted(model.slices, "slice")} of ${counted(model.threads.length, "thread")}, ${timeText(model.end)}`;
find("loss").textContent = model.dropped ? lossInWords() : "";
find("loss").hidden = find("legend-lost").hidden = !model.dropped;
fillTables(find("tables"), model, chooseWorst);
const place = () => view.place(layout.namesWidth, scroller.clientWidth - layout.namesWidth);
new ResizeObserver(place).observe(scroller);
addEventListener("hashchange", showAddress);
place();
showAddress();

/// For tests and scripts that drive the page.
window.timeline = {model, view, layout, painter, statistics, choose};
