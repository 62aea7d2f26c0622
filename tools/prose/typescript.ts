// A TypeScript source as passages: its comments, its texts in quotes and its names.
import ts from 'typescript';
import type { Passage } from './rules.ts';

export type SourceText = {
  readonly header?: Passage;
  readonly comments: readonly Passage[];
  readonly strings: readonly Passage[];
  readonly names: readonly Passage[];
};

export function readTypeScript(path: string, text: string): SourceText {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const ranges = new Map<number, ts.CommentRange>();
  const strings: Passage[] = [];
  const names = new Map<string, Passage>();

  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) ranges.set(range.pos, range);
    for (const range of ts.getTrailingCommentRanges(text, node.end) ?? []) ranges.set(range.pos, range);
    if (ts.isImportDeclaration(node) || (ts.isExportDeclaration(node) && node.moduleSpecifier)) return;
    if (isText(node)) strings.push({ line: lineAt(node.getStart(file)), text: node.text });
    if (ts.isIdentifier(node) && !names.has(node.text))
      names.set(node.text, { line: lineAt(node.getStart(file)), text: node.text });
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const range of ts.getLeadingCommentRanges(text, file.endOfFileToken.pos) ?? [])
    ranges.set(range.pos, range);

  const comments = joined(text, [...ranges.values()], lineAt);
  const header = comments.find(({ line }) => line === (text.startsWith('#!') ? 2 : 1));
  return { ...(header && { header }), comments, strings, names: [...names.values()] };
}

type TextNode = ts.StringLiteral | ts.TemplateLiteralLikeNode;

function isText(node: ts.Node): node is TextNode {
  return ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node);
}

/** Line comments one below the other are one comment. */
function joined(text: string, ranges: readonly ts.CommentRange[], lineAt: (at: number) => number): Passage[] {
  const comments: (Passage & { readonly last: number; readonly isLine: boolean })[] = [];
  for (const range of ranges.toSorted((a, b) => a.pos - b.pos)) {
    const line = lineAt(range.pos);
    const isLine = range.kind === ts.SyntaxKind.SingleLineCommentTrivia;
    const body = bodyOf(text.slice(range.pos, range.end));
    const before = comments.at(-1);
    if (before?.isLine && isLine && line === before.last + 1)
      comments.splice(-1, 1, { ...before, text: `${before.text}\n${body}`, last: line });
    else comments.push({ line, text: body, last: lineAt(range.end), isLine });
  }
  return comments.map(({ line, text: body }) => ({ line, text: body }));
}

function bodyOf(comment: string): string {
  return comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\s*(?:\/\/|\*)\s?/gm, '')
    .trim();
}
