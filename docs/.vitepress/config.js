import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { anchorOf, isPage, pageOf, sidebarOf } from './links.js';

const docs = fileURLToPath(new URL('..', import.meta.url));
const root = join(docs, '..');

/** Address of the repository's files, for links that leave the docs: `SITE_SOURCE=https://host/owner/name/blob/main/`. */
const source = process.env.SITE_SOURCE ?? 'https://ref-proxy.example/source/';

/** Links out of the docs lead to the repository, and links to README.md to the index of its folder. */
function rewriteLinks(markdown) {
  markdown.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null || /^(?:[a-z]+:|#)/.test(href)) continue;
      const [path, anchor] = href.split('#', 2);
      const target = normalize(join(dirname(env.realPath ?? env.path), decodeURI(path)));
      if (!existsSync(target)) throw new Error(`${env.relativePath}: ${href} leads nowhere`);
      const hash = anchor === undefined ? '' : `#${anchor}`;
      const page = target.slice(docs.length);
      token.attrSet(
        'href',
        target.startsWith(docs) && isPage(page)
          ? `/${pageOf(page)}${hash}`
          : `${source}${target.slice(root.length + 1)}${hash}`,
      );
    }
  });
}

/** Shows `<name>` and braces of prose as they are written; a page is no template, and comments are its only HTML. */
function showText(markdown) {
  markdown.core.ruler.push('html-as-text', ({ tokens }) => {
    for (const token of [...tokens, ...tokens.flatMap(({ children }) => children ?? [])])
      if (/^html_/.test(token.type) && !token.content.startsWith('<!--')) token.type = 'text';
  });
  const { rules } = markdown.renderer;
  for (const kind of ['text', 'code_inline']) {
    const shown = rules[kind];
    rules[kind] = (...args) => shown(...args).replaceAll('{{', '&#123;&#123;');
  }
}

export default defineConfig({
  title: 'ref-proxy',
  description: 'Keep Grafana and every Loki client while the logs live in VictoriaLogs',
  base: process.env.SITE_BASE ?? '/',
  outDir: join(root, 'dist/site'),
  cacheDir: join(root, 'dist/.site-cache'),
  lastUpdated: false,
  rewrites: pageOf,
  // Addresses of programs that the reader runs.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    anchor: { slugify: anchorOf },
    languageAlias: { alloy: 'hcl' },
    config: (markdown) => [rewriteLinks, showText].forEach((change) => change(markdown)),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: sidebarOf(readFileSync(join(docs, 'README.md'), 'utf8')),
    nav: [
      { text: 'Install', link: '/install' },
      { text: 'Moving from Loki', link: '/moving-from-loki' },
      { text: 'Differences', link: '/differences' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
  },
});
