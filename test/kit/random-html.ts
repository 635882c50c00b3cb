/** HTML as nobody would write it, and selectors for it: made from a seed. */
import type { FieldSpec } from '../../src/extract/field-spec.ts';
import type { Random } from './random.ts';

const TAGS = [
  'div',
  'p',
  'ul',
  'li',
  'a',
  'b',
  'span',
  'table',
  'tr',
  'td',
  'h2',
  'br',
  'img',
  'x-card',
  'script',
  'title',
  'svg',
  'form',
  'option',
  'dd',
] as const;
const CLASSES = ['a', 'b', 'item', 'price', 'A', 'x-1'] as const;
const NAMES = ['class', 'id', 'href', 'data-x', 'type', 'CLASS'] as const;
const VALUES = [
  'a',
  'b',
  'item price',
  ' a  b ',
  'x&amp;y',
  'a&b',
  '',
  'A',
  'item\tb',
  'a-b',
  'é',
  '&eacute;',
] as const;
const TEXTS = [
  'one',
  ' two ',
  '&amp;',
  '&nbsp;',
  'a < b',
  '3 > 2',
  '\n',
  '&notanentity',
  '€',
  '&#x41;',
  '<',
  '</',
  '<!',
  ']]>',
] as const;
const ODD = [
  '<!-- c <div class="a"> -->',
  '<!-->',
  '<!--->',
  '<!doctype html>',
  '<?php ?>',
  '<![CDATA[x]]>',
  '</>',
  '</ a>',
  '<a<b>',
  '<p/>',
  '<svg/>',
  '<div class=a/>',
  '<div class="a"id=b>',
  '<br/>',
  '</p>',
  '</br>',
  '<form>',
  '<div =x y=">">',
  '<!-- open',
] as const;

export function randomHtml(random: Random, parts: number): string {
  let html = '';
  for (let part = 0; part < parts; part += 1) {
    const dice = random.int(0, 19);
    if (dice < 9) html += openTag(random);
    else if (dice < 14) html += `</${casing(random, random.pick(TAGS))}>`;
    else if (dice < 19) html += random.pick(TEXTS);
    else html += random.pick(ODD);
  }
  return html;
}

function openTag(random: Random): string {
  let text = `<${casing(random, random.pick(TAGS))}`;
  const count = random.int(0, 3);
  for (let index = 0; index < count; index += 1) {
    const value = random.chance(0.6) ? random.pick(CLASSES) : random.pick(VALUES);
    const name = random.pick(NAMES);
    const quote = random.pick(['"', "'", '', 'none']);
    if (quote === 'none') text += ` ${name}`;
    else if (quote === '') text += ` ${name}=${value.trim().replace(/\s.*/, '') || 'v'}`;
    else
      text += `${random.pick([' ', '\n', '  '])}${name}${random.pick(['=', ' = '])}${quote}${value}${quote}`;
  }
  return text + random.pick(['>', ' >', '>', '/>', '>']);
}

function casing(random: Random, name: string): string {
  return random.chance(0.1) ? name.toUpperCase() : name;
}

/** Only what one pass can answer. */
export function randomSelector(random: Random): string {
  const alternatives = Array.from({ length: random.chance(0.15) ? 2 : 1 }, () => {
    let text = compound(random);
    while (random.chance(0.4)) text += random.pick([' ', ' ', ' > ', ' + ', ' ~ ']) + compound(random);
    return text;
  });
  return alternatives.join(', ');
}

function compound(random: Random): string {
  let text = random.chance(0.6) ? random.pick(TAGS) : '';
  if (random.chance(0.5)) text += `.${random.pick(CLASSES)}`;
  if (random.chance(0.1)) text += `#${random.pick(['a', 'b'])}`;
  if (random.chance(0.2))
    text += random.pick([
      '[href]',
      '[data-x=a]',
      '[data-x^="a"]',
      '[class$=b]',
      '[class*=te]',
      '[class|=a]',
      '[type=A]',
      '[id="x&y"]',
      '[class~=item]',
      '[data-x=a i]',
    ]);
  if (random.chance(0.1))
    text += random.pick([
      ':first-child',
      ':nth-child(2)',
      ':nth-child(odd)',
      ':nth-child(2n+1)',
      ':nth-child(-n+2)',
    ]);
  return text === '' ? '*' : text;
}

export function randomFields(random: Random, depth = 0): Record<string, FieldSpec> {
  const fields: Record<string, FieldSpec> = {};
  const count = random.int(1, 4);
  for (let index = 0; index < count; index += 1) {
    const name = `f${index}`;
    if (depth < 2 && random.chance(0.3)) {
      fields[name] = { each: randomSelector(random), fields: randomFields(random, depth + 1) };
      continue;
    }
    const css = random.chance(0.1) ? undefined : randomSelector(random);
    const attr = random.chance(0.4) ? random.pick(['class', 'href', 'data-x', 'id']) : undefined;
    fields[name] = { css, attr, all: random.chance(0.5), type: random.chance(0.2) ? 'html' : 'text' };
  }
  return fields;
}
