import { setTimeout as wait } from 'node:timers/promises';
import { homeMoveName, jobDetail, type Services, shellCommand } from '@stowage/core';
import { Failure, formatListSize } from '@stowage/rules';
import { printJson, printLine } from '../../terminal/output.js';
import { type Progress, withProgress } from '../../terminal/Progress.js';

export interface MoveRootOptions {
	json?: boolean;
	wait: boolean;
	allowLostAccess?: boolean;
}

type FollowedJob = NonNullable<Awaited<ReturnType<Services['homeMoves']['underWay']>>>['job'];

/** The polling interval of the progress. */
const pollMs = 200;

/**
 * Moves a home to another storage root, or shows the progress of a move that is under way. Whichever process is first runs it: a server,
 * or this command.
 */
export async function moveRoot(
	services: Services,
	[name = '', rootName = '']: readonly string[],
	{ json = false, wait: isFollowed, allowLostAccess: allowsLostAccess = false }: MoveRootOptions,
): Promise<void> {
	const { accounts, homeMoves, jobs } = services;
	const user = await accounts.find(name);
	const begun = async () => {
		const earlier = await homeMoves.underWay(user.id);
		if (earlier !== undefined && earlier.root !== rootName) {
			throw new Failure(
				'conflict',
				`The home of ${user.username} is on its way to ${earlier.root ?? 'another root'} already (${shareOf(earlier.job)}). Wait until it is there, or end that: ${shellCommand`stowage job cancel ${earlier.job.id}`}`,
			);
		}
		return earlier?.job;
	};
	const start = () =>
		homeMoves.start(user.username, rootName, { allowsLostAccess }).catch(async (error: unknown) => {
			// Another command may have started one since: then that is the reason, whatever was in the way.
			const others = await begun();
			if (others === undefined) throw error;
			return others;
		});
	const { id } = (await begun()) ?? (await start());
	if (!isFollowed) {
		if (json) printJson({ job: id });
		else printLine(`The home of ${user.username} is moved by the server: ${id}`);
		return;
	}
	jobs.begin(homeMoveName);
	const ended = await withProgress({ json }, (progress) => waitForEnd(services, user.id, id, progress));
	if (json) printJson({ job: id, status: ended.status, error: ended.error, root: rootName });
	else if (ended.status === 'completed') printLine(`The home of ${user.username} lies on ${rootName} now.`);
	if (ended.status === 'completed') return;
	throw new Failure('conflict', ended.error ?? 'The move was cancelled. The home stays where it was.');
}

async function waitForEnd({ jobs }: Services, userId: string, id: string, progress: Progress): Promise<FollowedJob> {
	let shown: string | undefined;
	for (;;) {
		const job = (await jobs.listOf(userId)).find((each) => each.id === id);
		if (job === undefined) throw new Failure('notFound', 'The job is no longer known.');
		if (job.endTime !== null) return job;
		// Each byte counts twice, since it is copied and compared.
		const done = { bytes: Math.floor(job.done / 2) };
		const total = job.total > 0 ? { bytes: Math.floor(job.total / 2) } : {};
		const step = stepOf(job);
		if (step === shown) progress.reach(done, total);
		else progress.begin({ what: `${step.charAt(0).toUpperCase()}${step.slice(1)}`, total }, done);
		shown = step;
		await wait(pollMs);
	}
}

function stepOf(job: FollowedJob): string {
	if (job.status === 'queued') return 'waiting for its turn';
	const step = jobDetail(job)?.step;
	return typeof step === 'string' ? step : 'copying';
}

function shareOf(job: FollowedJob): string {
	if (job.status === 'queued') return stepOf(job);
	const share = job.total > 0 ? `${Math.floor((100 * job.done) / job.total)} %` : '0 %';
	return `${stepOf(job)}: ${share} of ${formatListSize(job.total / 2)}, copied and compared`;
}
