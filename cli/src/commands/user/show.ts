import type { ListedLink, Services } from '@stowage/core';
import { formatListSize } from '@stowage/rules';
import { printJson, printRows, timeText } from '../../terminal/output.js';
import { linkJson, linkRow } from '../link.js';
import { quotaInForce, quotaRows } from './quota.js';
import { sessionJson, sessionRow } from './sessions.js';

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
	if (json) {
		printJson({
			username: user.username,
			id: user.id,
			isDisabled: user.isDisabled,
			createdAt: timeText(user.createdAt),
			hasSecondFactor,
			recoveryCodesLeft,
			settings,
			quota: { bytes: quota.most.bytes, entries: quota.most.entries, isDefault: quota.isDefault },
			used: { bytes: quota.used.bytes, entries: quota.used.entries },
			sessions: found.map(sessionJson),
			links: ownLinks.map((link) => ({ id: link.id, ...linkJson(link) })),
			uploads: uploads.map(({ area, directory, name: fileName, offset, length, touchedAt }) => ({
				area,
				directory,
				name: fileName,
				offset,
				length,
				touchedAt: timeText(touchedAt),
			})),
		});
		return;
	}
	printRows([
		['name', user.username],
		['id', user.id],
		['state', stateText(user.isDisabled)],
		['created', timeText(user.createdAt)],
		['two-factor sign-in', hasSecondFactor ? 'on' : 'off'],
		...(hasSecondFactor ? [['recovery codes left', recoveryCodesLeft]] : []),
		['prompt before download', settings.promptBeforeDownload ? 'yes' : 'no'],
		['preview', settings.enablePreview ? 'yes' : 'no'],
		...quotaRows(quota),
		...found.map((session) => ['session', ...sessionRow(session)]),
		...ownLinks.map((link) => ['link', link.id, ...linkRow(link)]),
		...uploads.map(({ area, directory, name: fileName, offset, length }) => [
			'upload',
			area,
			directory === '' ? fileName : `${directory}/${fileName}`,
			`${formatListSize(offset)} of ${formatListSize(length)}`,
		]),
	]);
}

export function stateText(isDisabled: boolean): string {
	return isDisabled ? 'disabled' : 'enabled';
}
