import { accountFields, jobDetail, type Services } from '@stowage/core';
import { Failure } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { resolveId } from '../commandLine/resolveId.js';
import { printLine, printList, timeCell, timeText } from '../terminal/output.js';

interface ListOptions {
	user?: string;
	all?: boolean;
	json?: boolean;
}

type StoredJob = Awaited<ReturnType<Services['jobs']['listOf']>>[number];

/** Which jobs that have not ended. */
interface Choice {
	user?: string;
	kind?: string;
	all?: boolean;
}

/** Lists, cancels, releases and retries jobs such as copies and conversions, whether the server runs or not. */
export function jobCommand(): Command {
	return new Command('job')
		.description('manage long work such as copies and conversions')
		.addCommand(
			appCommand<ListOptions>({
				usage: 'list',
				description:
					'list what waits and runs, the newest first: id, user, kind, status, how far it is, when it was started, title, and why it failed or is held back',
				examples: ['job list', 'job list --user ada --all', 'job list --json'],
				run: (services, _words, options) => listJobs(services, options),
			})
				.option('--user <name>', 'of this user only')
				.option('--all', 'what has ended in the last week too')
				.option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand<Choice>({
				usage: 'cancel [id...]',
				description:
					'cancel jobs, by the ids that list prints or their beginnings, or all of a user or a kind; one that runs ends within seconds',
				examples: [
					'job cancel 0f5e8d1c2b3a49586776859403a2b1c0',
					'job cancel --user ada --kind convert',
					'job cancel --all',
				],
				async run(services, ids, choice) {
					const { audit, jobs } = services;
					const targetOf = await targets(services);
					for (const id of await chosen(services, ids, choice)) {
						const { job } = await audit.recorded(
							{ action: 'cancelJob', job: id },
							() => jobs.cancelAny(id),
							({ job, isChanged }) => (isChanged ? targetOf(job) : undefined),
						);
						printLine(job.endTime === null ? `Cancelled ${id}.` : `${id} had ended already: ${job.status}.`);
					}
				},
			})
				.option('--user <name>', 'all of this user that have not ended')
				.option('--kind <kind>', 'all of this kind that have not ended, such as convert')
				.option('--all', 'all that have not ended'),
		)
		.addCommand(
			appCommand<Choice>({
				usage: 'release',
				description:
					'let jobs go on that are held back since the server ended while they or similar ones ran; list shows which, why and for how long',
				examples: ['job release --user ada', 'job release --kind convert', 'job release --all'],
				async run({ accounts, audit, jobs }, _words, { user, kind, all = false }) {
					if (all === (user !== undefined || kind !== undefined))
						throw new Failure('invalid', 'Choose jobs by --user or --kind, or all by --all.');
					const owner = user === undefined ? undefined : await accounts.find(user);
					const ofKind = kind === undefined ? {} : { kind };
					const released = await audit.recorded(
						{ action: 'releaseJobs', ...ofKind },
						() => jobs.release({ ...(owner === undefined ? {} : { userId: owner.id }), ...ofKind }),
						(count) => (count === 0 ? undefined : owner === undefined ? {} : accountFields(owner)),
					);
					printLine(released === 0 ? 'Nothing was held back.' : 'The jobs go on.');
				},
			})
				.option('--user <name>', 'of this user')
				.option('--kind <kind>', 'of this kind, such as convert')
				.option('--all', 'of everybody'),
		)
		.addCommand(
			appCommand({
				usage: 'retry <id...>',
				description: 'queue jobs that failed or were cancelled again, also those that the administrator started',
				examples: ['job retry 0f5e8d1c2b3a49586776859403a2b1c0'],
				async run(services, ids) {
					const { audit, jobs } = services;
					const targetOf = await targets(services);
					for (const id of await named(jobs, ids)) {
						await audit.recorded({ action: 'retryJob', job: id }, () => jobs.retryAny(id), targetOf);
						printLine(`Queued ${id} again.`);
					}
				},
			}),
		);
}

/** What the audit log says about a job. */
async function targets({ accounts }: Services) {
	const names = new Map((await accounts.list()).map(({ id, username }) => [id, username]));
	return ({ kind, title, userId }: Pick<StoredJob, 'kind' | 'title' | 'userId'>) => {
		const account = names.get(userId);
		return { kind, title, accountId: userId, ...(account === undefined ? {} : { account }) };
	};
}

function holdText(hold: StoredJob['hold']): string {
	if (hold === null || hold.until === null) return hold?.reason ?? '';
	return `${hold.reason} By itself not before ${timeText(hold.until)}.`;
}

/** The whole ids, each once. */
async function named(jobs: Services['jobs'], typed: readonly string[]): Promise<string[]> {
	const known = (await jobs.listOf()).map(({ id }) => id);
	const ids: string[] = [];
	for (const each of typed) ids.push(await resolveId(each, known));
	return [...new Set(ids)];
}

/** The ids that were named, or those of all jobs that were chosen and have not ended. */
async function chosen(
	{ accounts, jobs }: Services,
	ids: readonly string[],
	{ user, kind, all = false }: Choice,
): Promise<readonly string[]> {
	const isChosen = all || user !== undefined || kind !== undefined;
	if (isChosen === ids.length > 0)
		throw new Failure('invalid', 'Name jobs by their ids, or choose them by --user, --kind or --all.');
	if (!isChosen) return named(jobs, ids);
	const owner = user === undefined ? undefined : await accounts.find(user);
	const found = await jobs.listOf(owner?.id);
	return found.filter((job) => job.endTime === null && (kind ?? job.kind) === job.kind).map(({ id }) => id);
}

async function listJobs({ accounts, jobs }: Services, { user, all = false, json = false }: ListOptions): Promise<void> {
	const owner = user === undefined ? undefined : await accounts.find(user);
	const found = (await jobs.listOf(owner?.id)).filter(({ endTime }) => all || endTime === null);
	const names = new Map((await accounts.list()).map(({ id, username }) => [id, username]));
	await printList(found, {
		json,
		toJson: ({ userId, hasInput: _, createdAt, startTime, endTime, hold, ...job }) => ({
			...job,
			hold: hold && { ...hold, until: hold.until === null ? null : timeText(hold.until) },
			user: names.get(userId) ?? null,
			detail: jobDetail(job),
			createdAt: timeText(createdAt),
			startTime: startTime === null ? null : timeText(startTime),
			endTime: endTime === null ? null : timeText(endTime),
		}),
		columns: [
			...[{ title: 'ID' }, { title: 'USER' }, { title: 'KIND' }, { title: 'STATUS' }, { title: 'DONE' }],
			...[{ title: 'STARTED' }, { title: 'TITLE', fit: 'cut' as const }, { title: 'ERROR', fit: 'wrap' as const }],
		],
		row: ({ id, userId, kind, status, done, total, createdAt, title, error, hold }) => [
			id,
			names.get(userId) ?? '(removed)',
			kind,
			status,
			total > 0 ? `${Math.floor((100 * done) / total)} %` : '-',
			timeCell(createdAt),
			title,
			error ?? holdText(hold),
		],
	});
}
