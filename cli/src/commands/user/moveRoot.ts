import { setTimeout as wait } from 'node:timers/promises';
import { homeMoveName, type Services } from '@stowage/core';
import { Failure, formatListSize } from '@stowage/rules';
import { printJson } from '../../output.js';

export interface MoveRootOptions {
	json?: boolean;
	wait: boolean;
}

type FollowedJob = Awaited<ReturnType<Services['jobs']['listOf']>>[number];

/** How often it is asked how far the move is. */
const lookMs = 200;

/** Moves a home to another storage root, or follows the move that is under way already. Whichever process is first runs it: a server, or this command. */
export async function moveRoot(
	services: Services,
	[name = '', rootName = '']: readonly string[],
	{ json = false, wait: isFollowed }: MoveRootOptions,
): Promise<void> {
	const { accounts, homeMoves, jobs } = services;
	const user = await accounts.find(name);
	const earlier = await homeMoves.underWay(user.id);
	if (earlier !== undefined && earlier.root !== rootName) {
		throw new Failure(
			'conflict',
			`The home of ${user.username} is on its way to ${earlier.root ?? 'another root'} already (${shareOf(earlier.job)}). Wait until it is there, or end that: stowage job cancel ${earlier.job.id}`,
		);
	}
	const { id } = earlier?.job ?? (await homeMoves.start(user.username, rootName));
	if (!isFollowed) {
		if (json) printJson({ job: id });
		else console.log(`The home of ${user.username} is moved by the server: ${id}`);
		return;
	}
	jobs.begin(homeMoveName);
	const ended = await followed(services, user.id, id);
	if (json) printJson({ job: id, status: ended.status, error: ended.error, root: rootName });
	else if (ended.status === 'completed') console.log(`The home of ${user.username} lies on ${rootName} now.`);
	if (ended.status === 'completed') return;
	throw new Failure('conflict', ended.error ?? 'The move was cancelled. The home stays where it was.');
}

async function followed({ jobs }: Services, userId: string, id: string): Promise<FollowedJob> {
	try {
		for (;;) {
			const job = (await jobs.listOf(userId)).find((each) => each.id === id);
			if (job === undefined) throw new Failure('notFound', 'The job is no longer known.');
			if (job.endTime !== null) return job;
			if (process.stderr.isTTY) process.stderr.write(`\r${shareOf(job)}\u001B[K`);
			await wait(lookMs);
		}
	} finally {
		if (process.stderr.isTTY) process.stderr.write('\r\u001B[K');
	}
}

function shareOf({ status, done, total, detail }: FollowedJob): string {
	if (status === 'queued') return 'waiting for its turn';
	const { step = 'copying' } = (detail === null ? {} : JSON.parse(detail)) as { step?: string };
	const share = total > 0 ? `${Math.floor((100 * done) / total)} %` : '0 %';
	return `${step}: ${share} of ${formatListSize(total / 2)}, copied and compared`;
}
