import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

/** Appends the processor time of a test file's process, with the programs that it started, as a line of JSON to the file that TEST_USAGE names. */
export default function recordUsage() {
	process.on('exit', () => {
		const line = { file: fileURLToPath(require('ava').meta.file), wall: performance.now() / 1000, cpu: cpuSeconds() };
		appendFileSync(process.env.TEST_USAGE, `${JSON.stringify(line)}\n`);
	});
}

function cpuSeconds() {
	const { user, system } = process.cpuUsage();
	const own = (user + system) / 1e6;
	if (process.platform !== 'linux') return own;
	// The times of children that were waited for, in hundredths of a second; Node has no call for them. The pages of a browser, about as much again as all
	// else in an end-to-end test, are waited for by no process.
	const stat = readFileSync('/proc/self/stat', 'utf8');
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	return own + (Number(fields[13]) + Number(fields[14])) / 100;
}
