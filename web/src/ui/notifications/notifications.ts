/** An entry of the notification bar. */
export interface Notice {
	/** A notice replaces the one with the same key. Without a key it is added. */
	key?: string;
	/** `danger` is an alert; everything else is a status. */
	intent?: 'none' | 'success' | 'warning' | 'danger';
	message: string;
	/** A second line: the reason, or the server's sentence. */
	detail?: string;
	/** 0 to 1, or `indeterminate`. A notice with progress stays until it is dismissed or replaced. */
	progress?: number | 'indeterminate';
	/** How many milliseconds it stays without progress. @default 3000 */
	hidesAfter?: number;
	/** Stays until it is dismissed or replaced, also without progress. */
	stays?: boolean;
	/** The detail is to be copied by hand: it is selected, and stays until it is closed or replaced. */
	isDetailToCopy?: boolean;
	/** Shows `Cancel`. */
	onCancel?: () => void;
	/** A further button. */
	action?: { text: string; onClick: () => void };
}

export interface ShownNotice extends Notice {
	key: string;
}

export type NotificationAction = { type: 'shown'; notice: ShownNotice } | { type: 'dismissed'; key: string };

/** How long a notice without progress stays by default. */
export const autoHideMilliseconds = 3000;

/** Of more notices that hide themselves the oldest is removed. Those that stay, such as of work in progress, are not counted. */
const maxHiding = 3;

export function notificationsReducer(
	shown: readonly ShownNotice[],
	action: NotificationAction,
): readonly ShownNotice[] {
	switch (action.type) {
		case 'shown': {
			const { notice } = action;
			const isReplaced = shown.some(({ key }) => key === notice.key);
			return withoutOldest(
				isReplaced ? shown.map((other) => (other.key === notice.key ? notice : other)) : [...shown, notice],
				notice,
			);
		}
		case 'dismissed':
			return shown.some(({ key }) => key === action.key) ? shown.filter(({ key }) => key !== action.key) : shown;
	}
}

/** An error is removed only if nothing else can be, and the latest notice never: nobody has read it yet. */
function withoutOldest(shown: readonly ShownNotice[], latest: ShownNotice): readonly ShownNotice[] {
	const hiding = shown.filter(autoHides);
	if (hiding.length <= maxHiding) return shown;
	const others = hiding.filter((notice) => notice !== latest);
	const removed = others.find(({ intent }) => intent !== 'danger') ?? others[0];
	return shown.filter((notice) => notice !== removed);
}

/** Whether it hides itself. */
export function autoHides(notice: Notice): boolean {
	return notice.progress === undefined && !notice.stays && !notice.isDetailToCopy;
}

/** Reasons that a notice has room for. */
const maxReasons = 3;

/** The first of the reasons, a line for each, and how many more there are. */
export function reasonLines(reasons: readonly string[]): string {
	const more = reasons.length - maxReasons;
	return [...reasons.slice(0, maxReasons), ...(more > 0 ? [`…and ${more} more`] : [])].join('\n');
}
