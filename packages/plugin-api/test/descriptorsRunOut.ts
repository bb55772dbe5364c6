/**
 * A process whose descriptors run out while a sandbox is tried, and are free again afterwards. Its argument is a folder. Writes what two
 * calls found as JSON, or by which error they rejected.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findSandbox } from '../src/programs/sandbox/findSandbox.js';

const [folder = ''] = process.argv.slice(2);
const started = path.join(folder, 'started');
const bwrap = path.join(folder, 'bwrap');
await writeFile(
	bwrap,
	`#!/bin/sh\ntouch '${started}'; sleep 1\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n`,
	{ mode: 0o755 },
);

const taken: number[] = [];
const taking = setInterval(() => {
	if (!existsSync(started)) return;
	try {
		for (;;) taken.push(openSync('/dev/null', 'r'));
	} catch {
		// None is left.
	}
}, 5);

const outcome = () =>
	findSandbox({ bwrap, landlock: false }).then(
		(sandbox) => sandbox?.description ?? 'none',
		(error: unknown) => String(error),
	);

const first = await outcome();
clearInterval(taking);
for (const each of taken.splice(0)) closeSync(each);
process.stdout.write(JSON.stringify([first, await outcome()]));
