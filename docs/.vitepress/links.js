/** The anchor of a heading, as GitHub makes it and as the links of the docs name it. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** A path in docs that is a page of the site. */
export function isPage(path) {
  return path.endsWith('.md');
}

/** The page of the site for a file of docs. */
export function pageOf(path) {
  return path.replace(/(^|\/)README\.md$/, '$1index.md');
}

/** The groups of the index, each with its pages. */
export function sidebarOf(index) {
  const groups = index.split(/^## /m).slice(2);
  const link = /\[([^\]]+)\]\(([\w./-]+\.md)(#[\w-]+)?\)/g;
  return groups.map((group) => ({
    text: group.split('\n', 1)[0],
    collapsed: /contributors/.test(group),
    items: [...group.matchAll(link)]
      .filter(([, , path]) => !path.startsWith('../'))
      .map(([, text, path, anchor = '']) => ({
        text: text[0].toUpperCase() + text.slice(1),
        link: `/${pageOf(path).replace(/(?:index)?\.md$/, '')}${anchor}`,
      })),
  }));
}
