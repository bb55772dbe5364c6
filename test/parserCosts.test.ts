import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { atMost } from './atMost.js';
import type { Measured } from './parserCosts/measure.js';
import { parsers, slowParser } from './parserCosts/parsers.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('parserCosts/measure.js', import.meta.url));

/** A child takes some seconds. One that hangs is killed, and nothing but its own test fails. */
const timeout = 180_000;

atMost(2);

async function measure(name: string): Promise<Measured> {
	const { stdout } = await run(process.execPath, [program, name], { timeout, killSignal: 'SIGKILL' });
	return JSON.parse(stdout) as Measured;
}

test('a parser whose time grows with the square of the length is found', async (t) => {
	const { faults } = await measure(slowParser.name);
	t.regex(faults.join(), /grows \d\d+ times/);
});

for (const { name } of parsers) {
	test(`${name}: the time to read them grows with their length`, async (t) => {
		const { kilobyte, megabyte, faults } = await measure(name);
		t.log(`${kilobyte.toFixed(1)} ms for 1 kB, ${megabyte.toFixed()} ms for 1 MB`);
		t.deepEqual(faults, []);
	});
}
