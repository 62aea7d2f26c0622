// What keeps somebody from using a page, as far as it can be seen from its tree: nameless controls, descriptions that are not
// there, ids that are there twice, headings that skip a level, targets too small for a thumb. Runs inside the browser, as text, so it
// may use nothing but what the browser has.

/** Answers sentences; none when all is well. */
export const obstacles = `(() => {
  const found = [];
  const visible = (element) => element.checkVisibility({ visibilityProperty: true });
  const all = [...document.querySelectorAll('*')];
  const say = (element, what) => found.push((element.id || element.className || element.localName) + ' ' + what);

  const ids = all.map(({ id }) => id).filter(Boolean);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) found.push(id + ' is there twice');
  if (!document.documentElement.lang) found.push('the page has no language');
  if (!document.title) found.push('the page has no title');
  if (document.querySelectorAll('main').length !== 1) found.push('the page has no main part, or several');

  for (const element of all) {
    for (const name of ['aria-describedby', 'aria-labelledby', 'aria-controls']) {
      for (const id of (element.getAttribute(name) ?? '').split(' ').filter(Boolean)) {
        if (!document.getElementById(id)) say(element, name + ' names ' + id + ', which is not there');
      }
    }
  }
  for (const input of document.querySelectorAll('input')) {
    if (visible(input) && input.labels.length !== 1) say(input, 'has no label');
    if (visible(input) && !input.autocomplete && input.type !== 'checkbox') say(input, 'does not say what it is for');
    const problem = document.getElementById(input.id + '-problem');
    if (input.ariaInvalid === 'true' && !problem?.textContent) say(input, 'is wrong and nobody says why');
  }
  for (const frame of document.querySelectorAll('iframe')) if (!frame.title) say(frame, 'has no title');
  for (const image of document.querySelectorAll('svg')) {
    if (image.getAttribute('aria-hidden') !== 'true' && !image.getAttribute('aria-label')) say(image, 'is a picture without a name');
  }
  const levels = [...document.querySelectorAll('h1,h2,h3')].filter(visible).map(({ localName }) => Number(localName[1]));
  if (levels.filter((level) => level === 1).length !== 1) found.push('the page has no main heading, or several');
  levels.forEach((level, place) => { if (level > (levels[place - 1] ?? 1) + 1) found.push('a heading skips a level'); });
  for (const target of document.querySelectorAll('button, a[href], input')) {
    if (!visible(target)) continue;
    const { width, height } = (target.closest('label') ?? target).getBoundingClientRect();
    if (width < 24 || height < 24) say(target, 'is too small to hit: ' + width + ' by ' + height);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page is wider than its window');
  return found;
})()`;
