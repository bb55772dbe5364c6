import { removeVisitorFile, type Services, type VisitorFile, visitorFiles } from '@stowage/core';
import { anonymousOwner, formatListSize, plural } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../appCommand.js';
import { confirm } from '../ask.js';
import { printJson, printRows, timeText } from '../output.js';
import { spanOf } from '../spans.js';

/** What visitors have uploaded. */
export function publicCommand(): Command {
	return new Command('public')
		.description('list or remove what visitors have uploaded')
		.addCommand(
			appCommand<{ olderThan?: string; json?: boolean }>({
				usage: 'list',
				description: 'list the files of visitors, the oldest first',
				examples: ['public list', 'public list --older-than 30d --json'],
				async act(services, _words, { olderThan, json }) {
					const files = await found(services, olderThan);
					if (json)
						printJson(files.map(({ path, size, arrivedAt }) => ({ path, size, arrivedAt: timeText(arrivedAt) })));
					else printRows(files.map(({ path, size, arrivedAt }) => [timeText(arrivedAt), size, path]));
				},
			})
				.option('--older-than <time>', 'only those that came before, such as 30d or 12h')
				.option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand<{ olderThan: string; yes?: boolean }>({
				usage: 'purge',
				description: 'remove the files of visitors that came before a time, and the folders that this leaves empty',
				examples: ['public purge --older-than 30d', 'public purge --older-than 12h --yes'],
				async act(services, _words, { olderThan, yes }) {
					const files = await found(services, olderThan);
					const size = formatListSize(files.reduce((sum, file) => sum + file.size, 0));
					if (files.length > 0)
						await confirm(`Remove ${plural(files.length, 'file')} of visitors (${size})?`, yes === true);
					let removed = 0;
					for (const file of files) {
						if (!(await removeVisitorFile(services.storage, file))) continue;
						removed++;
						const { path, size: bytes } = file;
						services.audit.record(
							{ action: 'delete', area: 'public', owner: anonymousOwner, path, bytes },
							{ outcome: 'ok' },
						);
					}
					console.log(`Removed ${removed}.`);
				},
			})
				.requiredOption('--older-than <time>', 'such as 30d or 12h')
				.option('--yes', 'do not ask'),
		);
}

async function found({ storage, now }: Services, olderThan: string | undefined): Promise<VisitorFile[]> {
	const before = olderThan === undefined ? Number.POSITIVE_INFINITY : now() - spanOf('--older-than', olderThan);
	const files: VisitorFile[] = [];
	for await (const file of visitorFiles(storage, before)) files.push(file);
	return files.sort((a, b) => a.arrivedAt - b.arrivedAt);
}
