import { describeClient, formatDate, formatTime } from '@stowage/rules';
import type { UserSession } from '../../../api/session/userSessions.js';
import { accountMessages as messages } from '../messages.js';

/** The client and address of a session: `Firefox on Windows, 192.168.1.20`. */
export function clientOf({ userAgent, address }: UserSession): string {
	return [describeClient(userAgent).name, address].filter((part) => part !== null).join(', ');
}

/** Two lines: when it was last used, and where it is and since when it exists. */
export function sessionLines({ address, lastSeenAt, createdAt }: UserSession): [string, string] {
	const since = messages.since(formatDate(createdAt), formatTime(createdAt));
	return [
		messages.lastUsed(formatDate(lastSeenAt), formatTime(lastSeenAt)),
		[address, since].filter((part) => part !== null).join(' · '),
	];
}
