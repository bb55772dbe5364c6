import type { Services } from '@stowage/core';
import { formatListSize, plural } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { isOnTerminal, printJson, printLine, printList, timeCell, timeText } from '../terminal/output.js';

/** The index of names, whether the server runs or not. */
export function searchCommand(): Command {
	return new Command('search')
		.description('the index of names, by which searches are answered at once')
		.addCommand(
			appCommand<{ json?: boolean }>({
				usage: 'status',
				description: 'how much of each storage root is indexed, and since when that is known to be right',
				examples: ['search status', 'search status --json'],
				run: showStatus,
			}).option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand({
				usage: 'rebuild',
				description: 'build the index anew: by the running server in the background, or here where none runs',
				examples: ['search rebuild'],
				run: rebuild,
			}),
		);
}

async function showStatus(
	{ searchIndex, roots }: Services,
	_words: readonly string[],
	{ json }: { json?: boolean },
): Promise<void> {
	const state = await searchIndex.state(roots);
	if (json) {
		const withTimes = state.roots.map(({ indexedAt, ...root }) => ({
			...root,
			indexedAt: indexedAt === null ? null : timeText(indexedAt),
		}));
		return printJson({ bytes: state.bytes, roots: withTimes });
	}
	await printList(state.roots, {
		json: false,
		columns: [
			...[{ title: 'ROOT' }, { title: 'INDEX' }, { title: 'NAMES' }, { title: 'FOLDERS' }, { title: 'WAITING' }],
			{ title: 'INDEXED AT' },
		],
		row: ({ name, state: kind, names, folders, waiting, indexedAt }) => [
			...[name, kind, String(names), String(folders), String(waiting)],
			indexedAt === null ? '-' : timeCell(indexedAt),
		],
	});
	// For programs it would be another row.
	if (isOnTerminal()) printLine(`${formatListSize(state.bytes)} in all.`);
}

async function rebuild(services: Services): Promise<void> {
	const { searchIndex, roots } = services;
	if ((await searchIndex.rebuild(roots)) === 'requested') {
		return printLine('The server builds the index anew in the background: stowage search status says how far it is.');
	}
	const { roots: states } = await searchIndex.state(roots);
	const names = states.reduce((sum, root) => sum + root.names, 0);
	const waiting = states.reduce((sum, root) => sum + root.waiting, 0);
	printLine(`Built the index of ${plural(names, 'name')}.`);
	if (waiting > 0)
		printLine(`${plural(waiting, 'folder')} could not be listed: stowage root check says whether a root is away.`);
}
