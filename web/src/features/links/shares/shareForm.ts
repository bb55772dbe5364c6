import { formatDate, passwordLength, type ShareMode } from '@stowage/rules';
import type { NewShare, Share, ShareChanges } from '../../../api/shares.js';
import { parseSize, type SizeDraft, sizeDraft } from '../../../ui/fields/sizes.js';
import { shareMessages as messages } from './messages.js';

const day = 24 * 60 * 60_000;

/** When a share ends, as it is chosen. `kept` is the end that an existing one has. */
export type ShareEnd = 'kept' | 'never' | 'day' | 'week' | 'month' | 'date';

export const endLabels: Record<Exclude<ShareEnd, 'kept'>, string> = {
	never: 'Never',
	day: '1 day',
	week: '1 week',
	month: '1 month',
	date: 'On a date',
};

/** What is missing or wrong in a field. */
export interface FormProblem {
	field: 'date' | 'password' | 'maxDownloads' | 'maxUpload';
	/** A sentence. */
	problem: string;
}

/** What is typed and chosen. */
export interface ShareFormState {
	mode: ShareMode;
	end: ShareEnd;
	/** The value of an `<input type="date">`; the share ends with that day. */
	date: string;
	password: string;
	removesPassword: boolean;
	/** The text as typed; empty for no limit. */
	maxDownloads: string;
	/** What the share may receive in all; empty for no limit. */
	maxUpload: SizeDraft;
	asksName: boolean;
	title: string;
	message: string;
}

export const newShareForm: ShareFormState = {
	mode: 'view',
	end: 'never',
	date: '',
	password: '',
	removesPassword: false,
	maxDownloads: '',
	maxUpload: sizeDraft(undefined, 'GB'),
	asksName: false,
	title: '',
	message: '',
};

export function formOf(share: Share): ShareFormState {
	const { mode, maxDownloads, maxUploadBytes, askName, title, message } = share;
	return {
		...newShareForm,
		...{ mode, asksName: askName, title, message, end: 'kept' },
		maxDownloads: maxDownloads === null ? '' : String(maxDownloads),
		maxUpload: sizeDraft(maxUploadBytes ?? undefined, 'GB'),
	};
}

/** The ends to choose from: first the one that an existing share has, each once. */
export function endOptions(share?: Pick<Share, 'expiresAt'>): { value: ShareEnd; label: string }[] {
	const ends = (Object.keys(endLabels) as (keyof typeof endLabels)[]).map((value) => ({
		value,
		label: endLabels[value],
	}));
	if (!share) return ends;
	const { expiresAt } = share;
	if (expiresAt !== null) return [{ value: 'kept', label: formatDate(expiresAt) }, ...ends];
	return [{ value: 'kept', label: endLabels.never }, ...ends.filter(({ value }) => value !== 'never')];
}

/** What the server is sent to make a share of these items. */
export function newShareOf(
	form: ShareFormState,
	paths: readonly string[],
	{ requirePassword }: { requirePassword: boolean },
	now: number,
): NewShare | FormProblem {
	const settings = settingsOf(form, now);
	if ('problem' in settings) return settings;
	if (requirePassword && form.password === '') return { field: 'password', problem: messages.neededPassword };
	const { title, ...rest } = settings;
	return {
		items: paths.map((path) => ({ path })),
		mode: form.mode,
		...(form.mode === 'view' ? {} : { askName: form.asksName }),
		...rest,
		// Otherwise it is called by its item, where that is shown.
		...(title === '' ? {} : { title }),
	};
}

/** What the server is sent to change a share: only what differs from it as it was shown. The rest may be changed by now in another tab. */
export function changesOf(form: ShareFormState, share: Share, now: number): ShareChanges | FormProblem {
	const settings = settingsOf(form, now);
	if ('problem' in settings) return settings;
	const shown = formOf(share);
	const { title, message, maxDownloads, maxUploadBytes, ...rest } = settings;
	return {
		...rest,
		...(form.title === shown.title ? {} : { title }),
		...(form.message === shown.message ? {} : { message }),
		...(maxDownloads === undefined || form.maxDownloads === shown.maxDownloads ? {} : { maxDownloads }),
		// It is shown rounded.
		...(maxUploadBytes === undefined || isSameSize(form.maxUpload, shown.maxUpload) ? {} : { maxUploadBytes }),
		...(form.removesPassword && form.password === '' ? { password: null } : {}),
	};
}

const isSameSize = (a: SizeDraft, b: SizeDraft) => a.text === b.text && a.unit === b.unit;

type ShareSettings = ShareChanges & { title: string; message: string };

function settingsOf(form: ShareFormState, now: number): ShareSettings | FormProblem {
	const { password, title, message, mode } = form;
	const expiresAt = endOf(form, now);
	if (expiresAt !== undefined && expiresAt !== null && !(expiresAt > now))
		return { field: 'date', problem: messages.pastDate };
	if (password !== '' && password.length < passwordLength.min)
		return { field: 'password', problem: messages.shortPassword };
	const limit = form.maxDownloads.trim();
	if (!/^(|[1-9]\d{0,14})$/.test(limit)) return { field: 'maxDownloads', problem: messages.wrongLimit };
	const room = form.maxUpload.text.trim() === '' ? null : parseSize(form.maxUpload);
	if (mode !== 'view' && (room === undefined || room === 0)) return { field: 'maxUpload', problem: messages.wrongRoom };
	return {
		title: title.trim(),
		message: message.trim(),
		...(expiresAt === undefined ? {} : { expiresAt }),
		...(password === '' ? {} : { password }),
		...(mode === 'upload' ? {} : { maxDownloads: limit === '' ? null : Number(limit) }),
		...(mode === 'view' ? {} : { maxUploadBytes: room }),
	};
}

/**
 * The end in milliseconds since the epoch, null for none. Undefined where the share keeps the end that it has, NaN for
 * an invalid date.
 */
function endOf({ end, date }: ShareFormState, now: number): number | null | undefined {
	switch (end) {
		case 'kept':
			return undefined;
		case 'never':
			return null;
		case 'day':
			return now + day;
		case 'week':
			return now + 7 * day;
		case 'month':
			return now + 30 * day;
		case 'date':
			return new Date(`${date}T23:59:59.999`).getTime();
	}
}
