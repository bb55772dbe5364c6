/** Beside those that are called `list` or `show`. */
const others: ReadonlySet<string> = new Set([
	'audit',
	'completion',
	'config print',
	'search status',
	'service print',
	'share members',
]);

/** Whether a command, such as `user list`, only prints what is there, so that it may end at any time. */
export function onlyLists(name: string): boolean {
	return others.has(name) || / (list|show)$/.test(name);
}
