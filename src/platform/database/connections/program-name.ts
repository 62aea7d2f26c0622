// What a program tells the server about itself: its name and version.
import { readFileSync } from 'node:fs';
import { assetPath } from '../../../asset-paths.ts';

export const { version } = JSON.parse(readFileSync(assetPath('../package.json'), 'utf8')) as {
  readonly version: string;
};

/** All that a program of version 0.2.0 or older says. */
export const unversioned = 'mandate';
export const programName = `${unversioned} ${version}`;
