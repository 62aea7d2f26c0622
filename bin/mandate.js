#!/usr/bin/env node
// Checks the version of Node.js before anything is imported. An old Node.js must be able to parse this file: no imports at the top,
// no await, no new syntax.
const needed = [20, 19];
const found = process.versions.node.split('.').map(Number);

function hasWorkingFolder() {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

if (!hasWorkingFolder()) {
  console.error('mandate: The working folder does not exist any more. Change to another folder.');
  process.exitCode = 1;
} else if (found[0] > needed[0] || (found[0] === needed[0] && found[1] >= needed[1])) {
  void import('./start.js');
} else {
  console.error(
    'mandate: Node.js ' +
      needed.join('.') +
      ' or later is needed, this is ' +
      process.versions.node +
      '. Get it from https://nodejs.org.',
  );
  process.exitCode = 1;
}
