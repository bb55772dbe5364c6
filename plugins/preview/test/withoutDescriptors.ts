// Tries to decode when this process has no free descriptor, and again when it has some.
import { closeSync, openSync } from 'node:fs';
import { isFailure } from '@stowage/plugin-api';
import { ImageWorkers } from '../src/images/ImageWorkers.js';
import { runProgram } from '../src/runProgram.js';

const memoryBytes = 2 ** 29;
const { signal } = new AbortController();
const log = { info() {}, warn() {}, error() {} };
const workers = new ImageWorkers({ memoryBytes, log, findSandbox: async () => undefined });
const descriptor = openSync('/dev/null', 'r');
const runTrue = () => runProgram('/bin/echo', ['done'], { memoryBytes, descriptor, signal, sandbox: undefined });
async function* read() {
	yield Buffer.from('x');
}
const kindOf = (error: unknown) => (isFailure(error) ? error.kind : String(error));

const held: number[] = [];
try {
	for (;;) held.push(openSync('/dev/null', 'r'));
} catch {
	// None is left.
}
const program = await runTrue().then(String, kindOf);
const image = await workers.render({ owner: 'ada', length: 1, read }, 256, signal).then(String, kindOf);
for (const each of held) closeSync(each);
const later = String(await runTrue()).trim();
workers.close();
process.stdout.write(JSON.stringify({ program, image, later }));
