import type { ListedLink, Services } from '@stowage/core';
import {
	isOnTerminal,
	printJson,
	printLine,
	printRows,
	printTable,
	type Row,
	sizeCell,
	timeCell,
	timeText,
} from '../../terminal/output.js';
import type { Column } from '../../terminal/table.js';
import { linkColumns, linkJson, linkRow } from '../link.js';
import { quotaColumns, quotaInForce, quotaRows } from './quota.js';
import { sessionColumns, sessionJson, sessionRow } from './sessions.js';

/** Prints all data of a user. */
export async function showUser(services: Services, name: string, { json }: { json?: boolean }): Promise<void> {
	const { accounts, database, links, secondFactors, sessions } = services;
	const user = await accounts.find(name);
	const settings = await database.users.settings(user.id);
	const { isEnabled: hasSecondFactor, recoveryCodesLeft } = await secondFactors.state(user.id);
	const quota = await quotaInForce(services, user);
	const found = await sessions.list(user.id);
	const ownLinks: ListedLink[] = [];
	for await (const link of links.list(user.id)) ownLinks.push(link);
	const uploads = await database.uploads.listUnfinished(user.id);
	const { lastSignInAt = null } = (await accounts.overview()).find(({ id }) => id === user.id) ?? {};
	if (json) {
		printJson({
			username: user.username,
			id: user.id,
			isDisabled: user.isDisabled,
			createdAt: timeText(user.createdAt),
			hasSecondFactor,
			recoveryCodesLeft,
			settings,
			quota: { bytes: quota.limit.bytes, entries: quota.limit.entries, isDefault: quota.isDefault },
			used: quota.used,
			sessions: found.map(sessionJson),
			links: ownLinks.map((link) => ({ id: link.id, ...linkJson(link) })),
			lastSignInAt: lastSignInAt === null ? null : timeText(lastSignInAt),
			uploads: uploads.map(({ area, directory, name: fileName, offset, length, startedAt, touchedAt }) => ({
				area,
				directory,
				name: fileName,
				offset,
				length,
				startedAt: startedAt === null ? null : timeText(startedAt),
				touchedAt: timeText(touchedAt),
			})),
		});
		return;
	}
	const sections: Section[] = [
		{
			columns: [{ title: 'ACCOUNT' }, { title: user.username, fit: 'wrap' }],
			rows: [
				['name', user.username],
				['id', user.id],
				['state', stateText(user.isDisabled)],
				['created', timeCell(user.createdAt)],
				['last sign-in', lastSignInAt === null ? '-' : timeCell(lastSignInAt)],
				['two-factor sign-in', hasSecondFactor ? 'on' : 'off'],
				...(hasSecondFactor ? [['recovery codes left', recoveryCodesLeft]] : []),
				['prompt before download', settings.promptBeforeDownload ? 'yes' : 'no'],
				['preview', settings.enablePreview ? 'yes' : 'no'],
			],
		},
		{ columns: quotaColumns, rows: quotaRows(quota) },
		{ name: 'session', columns: sessionColumns('SESSION'), rows: found.map(sessionRow) },
		{
			name: 'link',
			columns: [{ title: 'LINK' }, ...linkColumns],
			rows: ownLinks.map((link) => [link.id, ...linkRow(link)]),
		},
		{
			name: 'upload',
			columns: [
				...[{ title: 'UPLOAD' }, { title: 'PATH', fit: 'cut' as const }, { title: 'SO FAR' }, { title: 'TOTAL' }],
				{ title: 'BEGAN' },
			],
			rows: uploads.map(({ area, directory, name: fileName, offset, length, startedAt }) => [
				area,
				directory === '' ? fileName : `${directory}/${fileName}`,
				sizeCell(offset),
				sizeCell(length),
				startedAt === null ? '-' : timeCell(startedAt),
			]),
		},
	];
	await printSections(sections.filter(({ rows }) => rows.length > 0));
}

interface Section {
	/** Begins each of its rows, where they are not below a header. */
	name?: string;
	columns: readonly Column[];
	rows: readonly Row[];
}

async function printSections(sections: readonly Section[]): Promise<void> {
	for (const [at, { name, columns, rows }] of sections.entries()) {
		if (isOnTerminal()) {
			if (at > 0) printLine('');
			await printTable(columns, rows);
		} else printRows(name === undefined ? rows : rows.map((row) => [name, ...row]));
	}
}

export function stateText(isDisabled: boolean): string {
	return isDisabled ? 'disabled' : 'enabled';
}
