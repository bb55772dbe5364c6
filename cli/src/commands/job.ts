import type { Services } from '@stowage/core';
import { Command } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { printList, timeText } from '../terminal/output.js';

interface ListOptions {
	user?: string;
	all?: boolean;
	json?: boolean;
}

/** Lists and cancels jobs such as copies and conversions, whether the server runs or not. */
export function jobCommand(): Command {
	return new Command('job')
		.description('manage long work such as copies and conversions')
		.addCommand(
			appCommand<ListOptions>({
				usage: 'list',
				description:
					'list what waits and runs, the newest first: id, user, kind, status, how far it is, when it was started, title, and why it failed',
				examples: ['job list', 'job list --user ada --all', 'job list --json'],
				run: (services, _words, options) => listJobs(services, options),
			})
				.option('--user <name>', 'of this user only')
				.option('--all', 'what has ended in the last week too')
				.option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand({
				usage: 'cancel <id...>',
				description: 'cancel jobs, by the ids that list prints; one that runs ends within seconds',
				examples: ['job cancel 0f5e8d1c2b3a49586776859403a2b1c0'],
				async run({ jobs }, ids) {
					for (const id of ids) {
						await jobs.cancelAny(id);
						console.log(`Cancelled ${id}.`);
					}
				},
			}),
		);
}

async function listJobs({ accounts, jobs }: Services, { user, all = false, json = false }: ListOptions): Promise<void> {
	const owner = user === undefined ? undefined : await accounts.find(user);
	const found = (await jobs.listOf(owner?.id)).filter(({ endTime }) => all || endTime === null);
	const names = new Map((await accounts.list()).map(({ id, username }) => [id, username]));
	printList(found, {
		json,
		toJson: ({ userId, hasInput: _, createdAt, startTime, endTime, detail, ...job }) => ({
			...job,
			user: names.get(userId) ?? null,
			detail: detail === null ? null : JSON.parse(detail),
			createdAt: timeText(createdAt),
			startTime: startTime === null ? null : timeText(startTime),
			endTime: endTime === null ? null : timeText(endTime),
		}),
		row: ({ id, userId, kind, status, done, total, createdAt, title, error }) => [
			id,
			names.get(userId) ?? '(removed)',
			kind,
			status,
			total > 0 ? `${Math.floor((100 * done) / total)} %` : '-',
			timeText(createdAt),
			title,
			error ?? '',
		],
	});
}
