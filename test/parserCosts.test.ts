import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { atMost } from './atMost.js';
import type { Measured } from './parserCosts/measure.js';
import { largeKilobytes, parsers, slowParser } from './parserCosts/parsers.js';

const program = fileURLToPath(new URL('parserCosts/measure.js', import.meta.url));

/** A parser takes some seconds. */
const timeout = 180_000;

atMost(2);

/** Children that wait for the next parser: to start one costs more than most parsers. */
const idle: ChildProcess[] = [];
test.after.always(() => {
	for (const child of idle) child.kill();
});

/** A parser that hangs is killed with its child, and nothing but its own test fails. */
async function measure(name: string): Promise<Measured> {
	const child = idle.pop() ?? fork(program);
	const signal = AbortSignal.timeout(timeout);
	const ended = new AbortController();
	const end = once(child, 'exit', { signal: ended.signal }).then(([code, by]) => {
		throw new Error(`The child ended with ${code ?? by}.`);
	});
	try {
		child.send(name);
		const [measured] = (await Promise.race([once(child, 'message', { signal }), end])) as [Measured];
		idle.push(child);
		return measured;
	} catch (error) {
		child.kill('SIGKILL');
		throw error;
	} finally {
		ended.abort();
		end.catch(() => {});
	}
}

test('a parser whose time grows with the square of the length is found', async (t) => {
	const { faults } = await measure(slowParser.name);
	t.regex(faults.join(), /grows \d\d+ times/);
});

for (const { name, isEnded } of parsers) {
	const title = isEnded ? 'a kilobyte of them is read at once' : 'the time to read them grows with their length';
	test(`${name}: ${title}`, async (t) => {
		const { kilobyte, large, faults } = await measure(name);
		t.log(`${kilobyte.toFixed(1)} ms for 1 kB${isEnded ? '' : `, ${large.toFixed()} ms for ${largeKilobytes} kB`}`);
		t.deepEqual(faults, []);
	});
}
