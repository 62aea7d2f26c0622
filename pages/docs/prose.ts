// The little markup that descriptions use: paragraphs, lists, `code`, **weight** and [links](address).
import { h, type Child } from './elements.ts';

export function prose(text: string | undefined): Child[] {
  return (text ?? '')
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const lines = block.trim().split('\n');
      const isList = lines.every((line) => /^([-*] |\s+\S)/.test(line));
      if (!isList) return h('p', {}, inline(lines.join(' ')));
      const items = block
        .trim()
        .slice(2)
        .split(/\n[-*] /);
      return h('ul', {}, ...items.map((item) => h('li', {}, inline(item))));
    });
}

export function inline(text: string): Child[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)\s]+\))/).map((piece) => {
    if (/^`.+`$/.test(piece)) return h('code', {}, piece.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(piece)) return h('strong', {}, piece.slice(2, -2));
    const [, label, address] = /^\[(.+)\]\((https?:.+|[#/].*)\)$/.exec(piece) ?? [];
    return label && address ? h('a', { href: address }, label) : piece;
  });
}
