import { createInterface } from 'node:readline';

const counts = /^# (tests|pass|fail|skip) \d+$/;
/** The hook of each test that bounds how many run at once. */
const hook = /^# (.* › )?(before|after)Each(\.always)? hook for /;
const remaining = /^# \d+ tests? remaining in (.+)$/;

/**
 * Prints a TAP report: a line for each test as it ends, with the reason of a failure. Resolves to its `results`, each
 * with a title, whether it passed and, if not, the lines that say why; the other lines that were printed (`notes`);
 * the files of which tests never ended (`incomplete`); and whether the report has its end, without which files may not
 * have run.
 */
export async function readTap(stream, print) {
	const results = [];
	const notes = [];
	const incomplete = [];
	let failing;
	let hasEnd = false;
	const add = (title, passed, line) => {
		const result = { title, passed, lines: passed ? [] : [line] };
		results.push(result);
		failing = passed ? undefined : result;
		print(line);
	};
	for await (const line of createInterface({ input: stream })) {
		const [, not, title] = /^(not )?ok \d+ - (.*)$/.exec(line) ?? [];
		if (title !== undefined) {
			// A skipped test counts as failed.
			const passed = not === undefined && !title.includes(' # SKIP');
			add(title, passed, `  ${passed ? '✓' : '✗'} ${title}`);
			continue;
		}
		const [, file] = remaining.exec(line) ?? [];
		if (file !== undefined) incomplete.push(file);
		hasEnd ||= counts.test(line);
		const isOfRun = line.startsWith('#') && !counts.test(line) && !hook.test(line);
		if (failing !== undefined) failing.lines.push(line);
		else if (isOfRun) notes.push(line);
		if (failing !== undefined || isOfRun) print(line);
	}
	return { results, notes, incomplete, hasEnd };
}
