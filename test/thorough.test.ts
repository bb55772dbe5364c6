import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';

// JavaScript, as the settings of the test runner are, and so without types.
const { thorough, thoroughFiles, thoroughTitles } = (await import(String(new URL('thorough.js', import.meta.url)))) as {
	thorough: Record<string, readonly string[]>;
	thoroughFiles: readonly string[];
	thoroughTitles: readonly string[];
};
const { listSources } = (await import(path.resolve('scripts/sources.js'))) as {
	listSources(names: readonly string[]): Promise<string[]>;
};

test('each test that is left to the thorough run is there', async (t) => {
	const texts = new Map<string, Promise<string>>();
	for (const [place, titles] of Object.entries(thorough)) {
		const folder = (await stat(place)).isDirectory() ? place : path.dirname(place);
		const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
		texts.set(
			folder,
			texts.get(folder) ??
				Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8'))).then((all) => all.join('\n')),
		);
		const text = await texts.get(folder);
		t.deepEqual([...new Set(titles)], titles, place);
		for (const title of titles) {
			// Some begin or end with what a loop gives them; of a suite all are named by how their titles begin.
			const words = title.replace(/: \*$/, '');
			const isThere = [words.slice(0, 20), words.slice(-20)].some((part) => text?.includes(part));
			t.true(isThere, `${place}: ${title}`);
		}
	}
});

test('a file that is left to the thorough run as a whole has no test that is not', async (t) => {
	for (const file of thoroughFiles) {
		const text = await readFile(file, 'utf8');
		const titles = titlesIn(text);
		t.not(titles.length, 0, file);
		for (const title of titles) {
			const [beginning = ''] = title.split('${');
			t.true(
				thoroughTitles.some((one) => one.startsWith(beginning)),
				`${file}: ${title}`,
			);
		}
	}
});

test('a title that is left to the thorough run is that of one test: those of other files would be left out with it', async (t) => {
	const files = (await listSources(['packages', 'plugins', 'cli', 'web', 'test'])).filter((file) =>
		/\.test\.tsx?$/.test(file),
	);
	const filesOf = new Map<string, string[]>(thoroughTitles.map((title) => [title, []]));
	for (const file of files) {
		for (const title of titlesIn(await readFile(file, 'utf8'))) filesOf.get(title)?.push(file);
	}
	const found = [...filesOf].filter(([, places]) => places.length > 0);
	t.true(found.length > 100, `${found.length} titles`);
	t.deepEqual(
		found.filter(([, places]) => places.length > 1),
		[],
	);
});

/** The titles of the tests in a source, those of templates as they are written. */
function titlesIn(text: string): string[] {
	const found = text.matchAll(/^\s*(?:test|test\.serial)\(\s*(['`])(.*)\1,/gm);
	return Array.from(found, ([, , title = '']) => title.replaceAll("\\'", "'"));
}
