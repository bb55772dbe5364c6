import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { watchPrograms } from './watchPrograms.js';

const require = createRequire(import.meta.url);

/**
 * Records what the process of a test file did, as lines of JSON in the file that TEST_RECORD names: that it began; how
 * it ended and what it cost, with the programs that it started; and each program that it started although none of the
 * lists has it.
 */
export default function recordProcess() {
	const file = fileURLToPath(require('ava').meta.file);
	const record = (line) => appendFileSync(process.env.TEST_RECORD, `${JSON.stringify({ file, ...line })}\n`);
	record({ kind: 'began' });
	process.on('exit', (code) => record({ kind: 'ended', code, wall: performance.now() / 1000, cpu: cpuSeconds() }));
	if (process.env.TEST_PROGRAMS !== undefined) watchPrograms(process.env.TEST_PROGRAMS, record);
}

/** The lines of such a file. */
export function readRecords(file) {
	let text = '';
	try {
		text = readFileSync(file, 'utf8');
	} catch (error) {
		// No test file has begun.
		if (error.code !== 'ENOENT') throw error;
	}
	return text
		.split('\n')
		.filter(Boolean)
		.map((line) => JSON.parse(line));
}

function cpuSeconds() {
	const { user, system } = process.cpuUsage();
	const own = (user + system) / 1e6;
	if (process.platform !== 'linux') return own;
	// The times of children that were waited for, in hundredths of a second; Node has no call for them. The pages of a
	// browser, about as much again as all else in an end-to-end test, are waited for by no process.
	const stat = readFileSync('/proc/self/stat', 'utf8');
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	return own + (Number(fields[13]) + Number(fields[14])) / 100;
}
