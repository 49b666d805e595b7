// What must hold before anything is released. Each throws an Error that says what to do.

/** CHANGELOG.md has a section of this version that says something, with a date unless it is a draft. */
export function checkChangelog(text, version, isDraft) {
  const sections = text.split(/^## /m).slice(1);
  const section = sections.find((each) => each.split(/[\s,]/, 1)[0] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}": write it`);
  const [title, ...lines] = section.split('\n');
  if (lines.join('').trim() === '') throw new Error(`the section "## ${version}" of CHANGELOG.md is empty`);
  if (!isDraft && !/, \d{4}-\d{2}-\d{2}$/.test(title))
    throw new Error(
      `CHANGELOG.md says "## ${title}": write "## ${version}, YYYY-MM-DD", or make a draft with -- --draft`,
    );
}

/** The chart has the version of the package. */
export function checkChart(text, version) {
  for (const key of ['version', 'appVersion']) {
    const given = new RegExp(`^${key}: "?([^"\\s]+)"?$`, 'm').exec(text)?.[1];
    if (given !== version)
      throw new Error(`${key} of deploy/helm/ref-proxy/Chart.yaml is ${given}, of package.json ${version}`);
  }
}
