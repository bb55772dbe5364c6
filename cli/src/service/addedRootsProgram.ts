import { text } from 'node:stream/consumers';
import { printJsonLine } from '../terminal/output.js';
import { addedRoots } from './unitFolders.js';

/**
 * Root's way to ask the database: this process belongs to the owner of the data folder. The address comes by standard input, since it may
 * contain a password.
 */
const answer = await addedRoots(await text(process.stdin)).then(
	(roots) => ({ roots }),
	(error: unknown) => ({ fault: error instanceof Error ? error.message : String(error) }),
);
printJsonLine(answer);
