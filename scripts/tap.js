import { createInterface } from 'node:readline';

const counts = /^# (tests|pass|fail|skip) \d+$/;
/** The hook of each test that bounds how many run at once. */
const hook = /^# .* › (before|after)Each(\.always)? hook for /;

/** Prints a TAP report: a line for each test as it ends, with the reason of a failure. Resolves to the counts and the lines of the failures. */
export async function countTap(stream) {
	let passed = 0;
	let failed = 0;
	let isShowing = false;
	const failures = [];
	const show = (line) => {
		console.log(line);
		failures.push(line);
	};
	for await (const line of createInterface({ input: stream })) {
		if (/^ok \d+.* # SKIP/.test(line)) {
			// A skipped test counts as failed.
			failed++;
			show(line.replace(/^ok \d+ - /, '  ✗ '));
		} else if (/^ok \d+/.test(line)) {
			passed++;
			isShowing = false;
			console.log(line.replace(/^ok \d+ - /, '  ✓ '));
		} else if (/^not ok \d+/.test(line)) {
			failed++;
			isShowing = true;
			show(line.replace(/^not ok \d+ - /, '  ✗ '));
		} else if (isShowing || (line.startsWith('#') && !counts.test(line) && !hook.test(line))) {
			show(line);
		}
	}
	return { passed, failed, failures };
}
