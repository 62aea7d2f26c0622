// What makes a test fail by chance: new random values on each run, waits that a busy machine exceeds, and near due dates.
// Retries hide it, and an upper bound on elapsed time measures the machine.
import ts from 'typescript';
import { waitMs } from '../../../tools/tests/waits.ts';

export type Finding = { readonly line: number; readonly what: string };

/** Where an upper bound on elapsed time may stand: its reason, and the limit of the program under test. */
export type TimedFile = { readonly limitMs: number; readonly why: string };

/** Parsing takes most of the time, and most files have none of it. */
const suspicious =
  /fast-check|Math\.random|\.poll\(|\bwait(For|Until)\(|\beventually\(|\bdueDates?\b.*\(|\bretry:/;
const boundsValue = /\btoBeLessThan/;
const readsClock = /\b(performance\.now|Date\.now|process\.hrtime)\b|\bnew Date\(\)/;
const computesTime = /\b(performance\.now|Date\.now|new Date|clock\.now|laterBy|instantAt)\b/;
const drawing = ['assert', 'check', 'sample', 'statistics'];
const runners = ['test', 'it', 'describe'];
/** They configure all tests of a run, or the rest of a file. */
const configures = /^(define(Config|Project)|vi\.setConfig)$/;

export function chancesIn(text: string, timed?: TimedFile): Finding[] {
  const mayBoundTime = boundsValue.test(text) && /\bnow\(|Ms\b/.test(text);
  if (!suspicious.test(text) && !mayBoundTime) return [];
  const source = ts.createSourceFile('a.ts', text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  const found: Finding[] = [];
  const textOf = (node: ts.Node) => node.getText(source);
  const report = (node: ts.Node, what: string) =>
    found.push({ line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1, what });
  const constants = new Map<string, ts.Expression>();
  const elapsed = new Set<string>();
  visitAll(source, (node) => {
    const [name, value] = assignmentOf(node) ?? [];
    if (!name || !value) return;
    const text = textOf(name);
    if (!constants.has(text)) constants.set(text, value);
    if (mayBoundTime && isDifference(value)) elapsed.add(text);
  });

  function isDifference(value: ts.Node): boolean {
    if (!readsClock.test(textOf(value))) return false;
    let is = false;
    visitAll(value, (node) => {
      const isMinus = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.MinusToken;
      if (isMinus && readsClock.test(textOf(node))) is = true;
    });
    return is;
  }

  /** A number, or the number that a name of the file stands for. */
  function numberOf(value: ts.Expression | undefined): number | undefined {
    if (!value) return undefined;
    if (ts.isNumericLiteral(value)) return Number(value.text);
    const name = textOf(value);
    if (name === 'waitMs') return waitMs;
    const constant = ts.isIdentifier(value) ? constants.get(name) : undefined;
    return constant && constant !== value ? numberOf(constant) : undefined;
  }

  function checkOptionsOfWait(call: ts.CallExpression, isDefaultLong: boolean): void {
    const given = call.arguments[1];
    const options = given && ts.isIdentifier(given) ? constants.get(given.text) : given;
    if (!options) {
      if (given || !isDefaultLong) report(call, `has no time-out of ${waitMs} ms that can be read here`);
      return;
    }
    const timeout = propertyOf(options, 'timeout');
    if (!timeout && isDefaultLong && ts.isObjectLiteralExpression(options)) return;
    const ms = numberOf(timeout);
    if (ms === undefined || ms < waitMs) report(call, `waits less than ${waitMs} ms`);
  }

  function checkCall(call: ts.CallExpression): void {
    const callee = textOf(call.expression);
    const [, member] = /^fc\.(\w+)$/.exec(callee) ?? [];
    if (member && drawing.includes(member)) {
      const seed = propertyOf(call.arguments[1], 'seed');
      if (seed && !/^(seed( \+ \w+)?|\d[\d_]*|chosenSeed\(.*\))$/.test(textOf(seed)))
        report(call, 'draws from a seed of its own');
      if (call.arguments[1]?.kind === ts.SyntaxKind.Identifier)
        report(call, 'has options that cannot be read here');
    }
    if (member?.endsWith('onfigureGlobal') && member !== 'readConfigureGlobal')
      report(call, 'changes the seed of all tests');
    if (/^expect\s*\.poll$/.test(callee)) checkOptionsOfWait(call, true);
    if (/^vi\.wait(For|Until)$/.test(callee)) checkOptionsOfWait(call, false);
    if (callee === 'eventually' && call.arguments.length > 1) {
      const ms = numberOf(call.arguments[1]);
      if (ms !== undefined && ms < waitMs) report(call, `waits less than ${waitMs} ms`);
    }
    if (runners.includes(/^\w+/.exec(callee)?.[0] ?? '')) {
      for (const given of call.arguments) {
        const options = ts.isIdentifier(given) ? constants.get(given.text) : given;
        if (options && propertyOf(options, 'retry')) report(call, 'is retried');
      }
    }
    if (configures.test(callee)) {
      visitAll(call, (node) => {
        const [name] = assignmentOf(node) ?? [];
        if (name && textOf(name) === 'retry') report(node, 'is retried');
      });
    }
    if (/\.toBeLessThan(OrEqual)?$/.test(callee)) checkBound(call);
  }

  function checkBound(call: ts.CallExpression): void {
    const [bound] = call.arguments;
    const subject = subjectOf(call);
    if (!bound || !subject) return;
    const names = textOf(subject).match(/\w+/g) ?? [];
    const isTime =
      readsClock.test(textOf(subject)) ||
      names.some((name) => elapsed.has(name) || /(took|elapsed)Ms$/i.test(name)) ||
      /\b\w+Ms\b/.test(textOf(bound));
    if (!isTime) return;
    if (!timed) return void report(call, 'bounds elapsed time, and the file is not listed for it');
    const ms = numberOf(bound);
    if (ms === undefined || ms < timed.limitMs * 10)
      report(call, `bounds elapsed time by less than ten times ${timed.limitMs} ms`);
  }

  visitAll(source, (node) => {
    if (ts.isPropertyAccessExpression(node) && textOf(node) === 'Math.random')
      report(node, 'draws from Math.random');
    if (ts.isImportDeclaration(node) && /'fast-check'$/.test(textOf(node.moduleSpecifier))) {
      const named = node.importClause?.namedBindings;
      if (named && !node.importClause.isTypeOnly) report(node, 'imports parts of fast-check; use fc');
    }
    if (ts.isCallExpression(node)) checkCall(node);
    const [name, value] = assignmentOf(node) ?? [];
    if (
      name &&
      value &&
      /^dueDates?$/.test(textOf(name)) &&
      computesTime.test(textOf(value)) &&
      !textOf(value).startsWith('dueAfter(')
    )
      report(node, 'computes a due date; use dueAfter');
  });
  return found;
}

/** The name and the value of a variable, a property or an assignment. */
function assignmentOf(node: ts.Node): [ts.Node, ts.Expression] | undefined {
  if (ts.isVariableDeclaration(node) && node.initializer) return [node.name, node.initializer];
  if (ts.isPropertyAssignment(node)) return [node.name, node.initializer];
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken)
    return [node.left, node.right];
  return undefined;
}

/** The value of a property in an object literal. */
function propertyOf(object: ts.Node | undefined, name: string): ts.Expression | undefined {
  if (!object || !ts.isObjectLiteralExpression(object)) return undefined;
  for (const property of object.properties) {
    if (!property.name || !ts.isIdentifier(property.name) || property.name.text !== name) continue;
    if (ts.isPropertyAssignment(property)) return property.initializer;
    if (ts.isShorthandPropertyAssignment(property)) return property.name;
  }
  return undefined;
}

/** What is given to the `expect` of an assertion. */
function subjectOf(call: ts.CallExpression): ts.Expression | undefined {
  let at: ts.Expression = call.expression;
  for (;;) {
    if (ts.isPropertyAccessExpression(at)) at = at.expression;
    else if (ts.isCallExpression(at) && ts.isIdentifier(at.expression) && at.expression.text === 'expect')
      return at.arguments[0];
    else return undefined;
  }
}

function visitAll(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => visitAll(child, visit));
}
