/** What every page of the demo site has around it. */

export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

/** A page as sites in the wild write it: a doctype, a menu, scripts, and tags that nobody closed. */
export function renderPage({
  title,
  head = '',
  body,
}: {
  title: string;
  head?: string;
  body: string;
}): string {
  return `<!DOCTYPE html>
<html lang=en>
<head>
<meta charset="utf-8">
<meta name=viewport content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} &mdash; Demo Shop</title>
<link rel="stylesheet" href="/assets/site.css?v=3">
${head}
<script>window.dataLayer = window.dataLayer || []; if (1 < 2) { dataLayer.push({ 'a': "</div>" }); }</script>
</head>
<body class="page">
<!-- header <div> -->
<div id=top><nav><ul class="menu"><li><a href="/">Home</a><li><a href="/catalogue">Catalogue</a><li><a href='/login'>Log&nbsp;in</a></ul></nav></div>
${body}
<footer><p>&copy; 2026 Demo Shop<p>Nothing here is for sale. <a href="mailto:nobody@example.com">Write to us</a> or <a href="javascript:void(0)">don&rsquo;t</a></footer>
</body>
</html>
`;
}
