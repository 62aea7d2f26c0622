import { expect, test } from 'vitest';
import { renderMarkdown } from './markdown.ts';

const resolve = (target: string) => (target.startsWith('gone') ? undefined : target);

test.each([
  [
    'a heading and its anchor',
    '## The `id`, and *more*',
    '<h2 id="the-id-and-more">The <code>id</code>, and <em>more</em></h2>',
  ],
  ['headings of the same name', '# A\n# A', '<h1 id="a">A</h1>\n<h1 id="a-1">A</h1>'],
  ['a paragraph of two lines', 'one\ntwo\n\nthree', '<p>one\ntwo</p>\n<p>three</p>'],
  ['emphasis', '**bold**, _weak_ and a_b_c', '<p><strong>bold</strong>, <em>weak</em> and a_b_c</p>'],
  ['code with a backtick', '`` a`b `` and `<t>`', '<p><code> a`b </code> and <code>&lt;t&gt;</code></p>'],
  [
    'links',
    '[a](b.html) <https://c.test>',
    '<p><a href="b.html">a</a> <a href="https://c.test">https://c.test</a></p>',
  ],
  ['a link to what is not served', '[`a`](gone.md)', '<p><code>a</code></p>'],
  ['a picture', '![Two "views"](a.svg)', '<p><img src="a.svg" alt="Two &quot;views&quot;"></p>'],
  ['an escape', '1 \\* 2 \\| 3', '<p>1 * 2 | 3</p>'],
  ['a quotation', '> one\n> two', '<blockquote><p>one\ntwo</p></blockquote>'],
  ['a rule', 'a\n\n---\n\nb', '<p>a</p>\n<hr>\n<p>b</p>'],
  ['a comment', '# A\n\n<!-- made -->\n\nb', '<h1 id="a">A</h1>\n<p>b</p>'],
  [
    'what looks like HTML',
    '<script>x</script> & "y"',
    '<p>&lt;script&gt;x&lt;/script&gt; &amp; &quot;y&quot;</p>',
  ],
  [
    'code, which nothing in it ends',
    '```sh by-hand\n# not a heading\n| no | table |\n  <b>\n```\nafter',
    '<pre tabindex="0"><code># not a heading\n| no | table |\n  &lt;b&gt;</code></pre>\n<p>after</p>',
  ],
  [
    'a list with a list, code and a second paragraph',
    '1. one\n   - inner\n\n2. two\n\n   ```sh\n   x\n   ```\n\n   more\n\nafter',
    '<ol><li>one\n<ul><li>inner</li></ul></li>\n' +
      '<li><p>two</p>\n<pre tabindex="0"><code>x</code></pre>\n<p>more</p></li></ol>\n<p>after</p>',
  ],
  ['a list that continues', '3. c\n4. d\n   e', '<ol start="3"><li>c</li>\n<li>d\ne</li></ol>'],
  [
    'a table',
    '| a | b |\n| - | - |\n| `x\\|y` | c<br>d |',
    '<div class="table" tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr></thead>' +
      '<tbody><tr><td><code>x|y</code></td><td>c<br>d</td></tr></tbody></table></div>',
  ],
])('renders %s', (_, text, html) => expect(renderMarkdown(text, resolve)).toBe(html));
