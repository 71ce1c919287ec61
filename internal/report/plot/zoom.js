// A click on a box of a flame graph, or Enter on it, makes it as wide as the graph,
// with what it called above it; the lowest box brings all back. Without scripts the
// graph is whole.
(function (svg) {
  "use strict";
  if (!svg) return;
  var boxes = svg.querySelectorAll("g[data-x]");
  var edge = +svg.dataset.edge, full = +svg.dataset.full, letter = +svg.dataset.letter;

  function label(box, x, wide) {
    var text = box.querySelector("text"), name = box.dataset.name, most = Math.floor((wide - 4) / letter);
    if (!text) {
      text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      text.setAttribute("y", +box.querySelector("rect").getAttribute("y") + 12);
      box.appendChild(text);
    }
    var letters = Array.from(name);
    text.setAttribute("x", x + 2);
    text.textContent = letters.length <= most ? name : most < 3 ? "" : letters.slice(0, most - 1).join("") + "\u2026";
  }

  function zoom(to) {
    var from = +to.dataset.x, wide = +to.dataset.w, scale = full / wide, slack = 1e-4;
    boxes.forEach(function (box) {
      var x = +box.dataset.x, w = +box.dataset.w;
      var under = x <= from + slack && x + w >= from + wide - slack && +box.dataset.row <= +to.dataset.row;
      var inside = x >= from - slack && x + w <= from + wide + slack && +box.dataset.row >= +to.dataset.row;
      box.style.display = under || inside ? "" : "none";
      box.style.opacity = under && box !== to && !inside ? 0.6 : "";
      var at = under ? edge : edge + (x - from) * scale, now = under ? full : w * scale, rect = box.querySelector("rect");
      rect.setAttribute("x", at);
      rect.setAttribute("width", now);
      label(box, at, now);
    });
  }

  boxes.forEach(function (box) {
    box.setAttribute("tabindex", "0");
    box.style.cursor = "pointer";
    box.addEventListener("click", function () { zoom(box); });
    box.addEventListener("keydown", function (e) { if (e.key === "Enter") zoom(box); });
  });
})(document.currentScript && document.currentScript.closest("svg"));
