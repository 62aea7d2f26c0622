// Random tests draw the same values on each run, unless SEED sets others. A worker runs this before each file of tests.
import fc from 'fast-check';
import { chosenSeed } from './service/chosen-seed.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: chosenSeed('SEED') });
