// Every field of an API schema is also used by code: some other file reads it or fills it in. Only a required response field that is
// never filled in fails to compile; all others would not.
import ts from 'typescript';
import { expect, test } from 'vitest';
import { isTest, readSourceFiles } from '../../tools/source-files.ts';

const namedByNone: Readonly<Record<string, readonly string[]>> = {
  'of chargebacks, which do not exist yet': ['chargebackID', 'levy', 'reasonCode', 'stage'],
  'of quotes, which are always refused': ['cash', 'currencyFrom', 'currencyTo'],
};

type Names = { readonly declared: Set<string>; readonly used: Set<string> };

test('every field of a schema is named by other code', () => {
  const names: Names = { declared: new Set(), used: new Set() };
  for (const source of readSourceFiles())
    if (source.path.endsWith('.ts') && !isTest(source)) collect(parse(source.text), false, names);
  expect(names.declared.size).toBeGreaterThan(250);
  expect(unusedIn(names)).toEqual(Object.values(namedByNone).flat().sort());
});

test.each([
  ['const Body = Type.Object({ amount: Type.Integer() });', ['amount']],
  [
    'const Body = Type.Object({ card: Type.Object({ number: Type.String() }) }); const f = (b) => b.card;',
    ['number'],
  ],
  ['const Body = Type.Object({ amount: Type.Integer() }); const f = ({ amount: minor }) => minor;', []],
  ['const Body = Type.Object({ amount: Type.Integer() }); const answer = { amount: 1 };', []],
  ["const Body = Type.Object({ amount: Type.Integer({ description: 'x' }) }); const amount = 1;", ['amount']],
])('an unused field is found: %s', (text, unused) => {
  const names: Names = { declared: new Set(), used: new Set() };
  collect(parse(text), false, names);
  expect(unusedIn(names)).toEqual(unused);
});

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
}

function unusedIn({ declared, used }: Names): string[] {
  return [...declared].filter((name) => !used.has(name)).sort();
}

function collect(node: ts.Node, isInSchema: boolean, names: Names): void {
  if (isInSchema && ts.isPropertyAssignment(node) && isFieldOfSchema(node)) {
    names.declared.add(nameOf(node.name));
  } else if (!isInSchema) {
    for (const name of usedBy(node)) names.used.add(name);
  }
  const isSchema = isInSchema || isTypeCall(node);
  node.forEachChild((child) => collect(child, isSchema, names));
}

/** Not a description, a format or a limit of the schema itself. */
function isFieldOfSchema({ parent }: ts.PropertyAssignment): boolean {
  const call = parent.parent;
  return (
    ts.isCallExpression(call) &&
    isTypeCall(call) &&
    calledOn(call) === 'Object' &&
    call.arguments[0] === parent
  );
}

function isTypeCall(node: ts.Node): boolean {
  return ts.isCallExpression(node) && calledOn(node) !== undefined;
}

/** `Object` of `Type.Object(…)`. */
function calledOn({ expression }: ts.CallExpression): string | undefined {
  const isOfType = ts.isPropertyAccessExpression(expression) && ts.isIdentifier(expression.expression);
  return isOfType && expression.expression.text === 'Type' ? expression.name.text : undefined;
}

function usedBy(node: ts.Node): string[] {
  if (ts.isPropertyAccessExpression(node)) return [node.name.text];
  if (ts.isBindingElement(node)) return [nameOf(node.propertyName ?? node.name)];
  if (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node) || ts.isPropertySignature(node))
    return [nameOf(node.name)];
  return ts.isStringLiteral(node) ? [node.text] : [];
}

function nameOf(name: ts.Node): string {
  return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : '';
}
