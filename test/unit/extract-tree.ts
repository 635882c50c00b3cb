/** What is made of tags that come in any order: as browsers do it, or close to it where that is said. */
import t from 'tap';
import { parseDocument, type ElementNode } from '../../src/extract/document.ts';
import { textOf } from '../../src/extract/html-text.ts';

function outline(html: string): string {
  const show = (node: ElementNode): string =>
    node.children
      .map((child) => {
        if (child.kind === 'text') return html.slice(child.start, child.end).trim();
        const inner = show(child);
        return inner === '' ? child.tag.name : `${child.tag.name}(${inner})`;
      })
      .filter((part) => part !== '')
      .join(' ');
  return show(parseDocument(html).root);
}

t.test('end tags that nobody wrote, and those that belong nowhere', async (t) => {
  const cases: [string, string][] = [
    ['<ul><li>a<p>b<li>c</ul>d', 'ul(li(a p(b)) li(c)) d'],
    ['<ul><li>a<ul><li>b</ul><li>c</ul>', 'ul(li(a ul(li(b))) li(c))'],
    ['<p>a<p>b<div>c</div>', 'p(a) p(b) div(c)'],
    ['<p>a<b>b<p>c', 'p(a b(b)) p(c)'],
    ['<dl><dt>a<dd>b<dt>c</dl>', 'dl(dt(a) dd(b) dt(c))'],
    ['<table><tr><td>a<td>b<tr><td>c</table>d', 'table(tbody(tr(td(a) td(b)) tr(td(c)))) d'],
    ['<table><tr><td><div>a</td></tr></table>b', 'table(tbody(tr(td(div(a))))) b'],
    ['<div><table><tr><td>a</div>b</table>c</div>', 'div(table(tbody(tr(td(a b)))) c)'],
    ['<table><thead><tr><th>a<tbody><td>b</table>', 'table(thead(tr(th(a))) tbody(tr(td(b))))'],
    ['<tr><td>a<td>b<tr><td>c', 'tr(td(a) td(b)) tr(td(c))'],
    ['<select><option>a<option>b</select>', 'select(option(a) option(b))'],
    ['<h1>a<h2>b</h2>', 'h1(a) h2(b)'],
    ['<div><span>a</div>b</span>', 'div(span(a)) b'],
    ['<div><span><p>a</span>b</p>c</div>', 'div(span(p(a b) c))'],
    ['<b><p>a</b>b</p>c', 'b(p(a b)) c'],
    ['<a>a<div>b<a>c', 'a(a div(b a(c)))'],
    ['</p>a</br>b</i>', 'p a br b'],
    ['<form><form>a</form>b</form>', 'form(a) b'],
    ['<div/>a<br/>b', 'div(a br b)'],
    ['<svg><path/><g/></svg>a', 'svg(path g) a'],
    ['<html><head><title>a</title><div>b', 'html(head(title(a)) div(b))'],
    ['a<b', 'a'],
    ['a < b > c', 'a < b > c'],
  ];
  for (const [html, wanted] of cases) t.equal(outline(html), wanted, html);
});

t.test('text that is no tags', async (t) => {
  const cases: [string, string][] = [
    ['<script>if (a < b) "</div>"</script>c', 'script(if (a < b) "</div>") c'],
    ['<style><p></STYLE >a', 'style(<p>) a'],
    ['<textarea><p></textarea>a', 'textarea(<p>) a'],
    ['<!-- <p> -->a<!-->b<!--->c<!-- x --!>d<!-- e', 'a b c d'],
    ['<!doctype html><?php <p> ?>a', '?>a'],
    ['<![CDATA[<p>]]>a<svg><![CDATA[<p>]]></svg>', 'a svg(<p>)'],
    ['</>a</ b>c<1>', 'a c<1>'],
    ['<p title="</p>" x=\'>\' y=a>b', 'p(b)'],
  ];
  for (const [html, wanted] of cases) t.equal(outline(html), wanted, html);
});

t.test('attributes', async (t) => {
  const html = `<p A=1 a=2 b='x&amp;y' c="&copy=z" d e=f/g =h i = "j"k=l>`;
  const [child] = parseDocument(html).root.children;
  t.same(child?.kind === 'element' ? [...child.attributes] : [], [
    ['a', '1'],
    ['b', 'x&y'],
    ['c', '&copy=z'],
    ['d', ''],
    ['e', 'f/g'],
    ['=h', ''],
    ['i', 'j'],
    ['k', 'l'],
  ]);
});

t.test('text of an element', async (t) => {
  const html =
    '<div>a<script>b</script><br><b>&lt;c&gt;</b><style>d</style> &copy e<title>&amp;</title></div>';
  const [child] = parseDocument(html).root.children;
  t.equal(child?.kind === 'element' ? textOf(html, child) : '', 'a\n<c> © e&');
});
