import type { Services } from '@stowage/core';
import { isFailure } from '@stowage/rules';
import { ExitCode } from '../../terminal/explain.js';
import { printError, printList, sizeCell, timeCell, timeText } from '../../terminal/output.js';
import { type Progress, withProgress } from '../../terminal/Progress.js';
import { limitCell } from './quota.js';
import { stateText } from './show.js';

export interface ListOptions {
	usage?: boolean;
	json?: boolean;
}

type Overview = Awaited<ReturnType<Services['accounts']['overview']>>[number];

/** Lists all accounts, with what their homes contained when they were last measured by a server, a command or, with `usage`, now. */
export async function listUsers(services: Services, { usage, json }: ListOptions): Promise<void> {
	const { accounts, config, database } = services;
	const failures = usage ? await withProgress({ json }, (progress) => measureAll(services, progress)) : [];
	const withFactor = await database.secondFactors.enabledUserIds();
	const quotaOf = ({ quota: { bytes, entries } }: Overview) => ({
		bytes: bytes ?? config.quotas.userBytes,
		entries: entries ?? config.quotas.userEntries,
		isDefault: { bytes: bytes === null, entries: entries === null },
	});
	await printList(await accounts.overview(), {
		json,
		toJson: (user) => ({
			username: user.username,
			id: user.id,
			isDisabled: user.isDisabled,
			createdAt: timeText(user.createdAt),
			hasSecondFactor: withFactor.has(user.id),
			lastSignInAt: user.lastSignInAt === null ? null : timeText(user.lastSignInAt),
			used: user.used && { ...user.used, measuredAt: timeText(user.used.measuredAt) },
			quota: quotaOf(user),
		}),
		columns: ['NAME', 'STATE', 'CREATED', 'TWO-FACTOR', 'LAST SIGN-IN', 'USED', 'QUOTA', 'MEASURED'].map((title) => ({
			title,
		})),
		row: (user) => [
			user.username,
			stateText(user.isDisabled),
			timeCell(user.createdAt),
			withFactor.has(user.id) ? 'two-factor' : '',
			user.lastSignInAt === null ? '-' : timeCell(user.lastSignInAt),
			user.used === null ? '-' : sizeCell(user.used.bytes),
			limitCell(quotaOf(user).bytes),
			user.used === null ? '-' : timeCell(user.used.measuredAt),
		],
	});
	for (const failure of failures) printError(failure);
	if (failures.length > 0) throw new ExitCode(1);
}

/** Measures one home after the other, which records the results. Resolves to a sentence for each that could not be. */
async function measureAll({ accounts, quotas }: Services, progress: Progress): Promise<string[]> {
	const failures: string[] = [];
	const users = await accounts.list();
	progress.begin({ what: 'Measuring', unit: 'home', total: { count: users.length } });
	for (const { id, username } of users) {
		try {
			await quotas.measured({ kind: 'user', id, username });
		} catch (error) {
			if (!isFailure(error)) throw error;
			failures.push(`The home of ${username} was not measured: ${error.message}`);
		}
		progress.advance({ count: 1 });
	}
	return failures;
}
