/** Expressions that are evaluated inside the page; they are strings, because this project does not include the browser's types. */

/** Sum of the layout shifts without user input (`layout-shift` entries). */
export const layoutShift = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(sum), 50));
})`;

/** Pixels by which the page is wider than its window. */
export const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Controls without an accessible name. */
export const namelessControls = `[...document.querySelectorAll('button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((control) => {
    const labels = control.labels === undefined || control.labels === null ? [] : [...control.labels];
    const name = (control.getAttribute('aria-label') ?? '') + control.title + control.textContent + labels.map((one) => one.textContent).join('');
    return name.trim() === '';
  })
  .map((control) => control.outerHTML.slice(0, 120))`;

/** Elements in the tab order that are boxes without a role. */
export const boxStops = `[...document.querySelectorAll('[tabindex="0"]:is(div, pre, p, span):not([role])')]
  .map((stop) => stop.outerHTML.slice(0, 120))`;

/** Texts with a contrast to their background below 4.5:1 (WCAG 2.2, 1.4.3), each as "ratio text". */
export const faintTexts = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (color) => {
    const [r, g, b] = color.slice(0, 3).map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return rgba('white');
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.textContent.trim() === '' || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const color = rgba(element instanceof SVGElement ? style.fill : style.color);
    const [light, dark] = [luminance(color), luminance(behind(element))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) faint.push(ratio.toFixed(2) + ' ' + node.textContent.trim().slice(0, 40));
  }
  return faint;
})()`;

/** Every visible element, including those of the editor's shadow tree. */
const everything = `(function all(root) {
  return [...root.querySelectorAll('*')].flatMap((one) => [one, ...(one.shadowRoot === null ? [] : all(one.shadowRoot))]);
})(document).filter((one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true }))`;

/** Texts smaller than 13 pixels, each as "pixels text". */
export const smallTexts = `${everything}
  .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''))
  .map((one) => [parseFloat(getComputedStyle(one).fontSize), one.textContent.trim().slice(0, 40)])
  .filter(([size]) => size < 13)
  .map((found) => found.join(' '))`;

/** Controls less than 32 pixels high or wide; links inside a sentence are exempt. */
export const smallTargets = `${everything}
  .filter((one) => one.matches('button, input, select, summary, [role="button"], [role="tab"]') && !one.matches('.skip'))
  .map((one) => [one.getBoundingClientRect(), one.outerHTML.slice(0, 100)])
  .filter(([box]) => box.width > 0 && (box.height < 31.5 || box.width < 31.5))
  .map(([box, html]) => box.width + 'x' + box.height + ' ' + html)`;

/** True if the editor has the focus. */
export const isInEditor = "document.activeElement?.id === 'query'";

/** Tables wider than their container, and selects whose text is wider than the field. */
export const cutTexts = `(() => {
  const canvas = document.createElement('canvas').getContext('2d');
  const cut = [...document.querySelectorAll('.cost-scroll')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map((table) => table.innerText.slice(0, 80));
  for (const select of document.querySelectorAll('select')) {
    const style = getComputedStyle(select);
    const text = select.selectedOptions[0]?.textContent ?? '';
    canvas.font = style.font;
    // The arrow takes 24 pixels.
    const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 24;
    if (canvas.measureText(text).width > room) cut.push(text);
  }
  return cut;
})()`;

/** True if each line of a list begins where the previous one ends. */
export const rowsTouch = `(() => {
  const rows = [...document.querySelectorAll('.log .row')]
    .map((row) => [Number(row.dataset.index), row.getBoundingClientRect()])
    .sort(([a], [b]) => a - b);
  return rows.every(([index, { top }], at) => {
    const [before, box] = rows[at - 1] ?? [];
    return before !== index - 1 || Math.abs(box.bottom - top) < 1.5;
  });
})()`;

/** Elements that overflow the panel of a menu. */
export const spiltOver = `[...document.querySelectorAll('.popover-panel')].flatMap((panel) => {
  const { bottom, right } = panel.getBoundingClientRect();
  return [...panel.querySelectorAll('*')]
    .filter((one) => one.getBoundingClientRect().bottom > bottom + 1 || one.getBoundingClientRect().right > right + 1)
    .map((one) => one.outerHTML.slice(0, 100));
})`;
