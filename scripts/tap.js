import { createInterface } from 'node:readline';

/** Reads a TAP report: shows what failed in full and what passed by a line each, and counts both. */
export async function countTap(stream) {
	let passed = 0;
	let failed = 0;
	let isShowing = false;
	for await (const line of createInterface({ input: stream })) {
		if (/^ok \d+/.test(line)) {
			passed++;
			isShowing = false;
			console.log(line.replace(/^ok \d+ - /, '  ✓ '));
		} else if (/^not ok \d+/.test(line)) {
			failed++;
			isShowing = true;
			console.log(line.replace(/^not ok \d+ - /, '  ✗ '));
		} else if (isShowing || (line.startsWith('#') && !/^# (tests|pass|fail|skip) \d+$/.test(line))) {
			console.log(line);
		}
	}
	return { passed, failed };
}
