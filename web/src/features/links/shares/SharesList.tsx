import { Button, Tag } from '@blueprintjs/core';
import { formatDate, formatListSize, formatTime, plural, shownName } from '@stowage/rules';
import { useId, useRef, useState } from 'react';
import type { Share } from '../../../api/shares.js';
import { useOpenings } from '../../../ui/dialogs/dialogs.js';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { isFocusLost } from '../../../ui/keyboard/keptFocus.js';
import { useCopyUrl } from '../useCopyUrl.js';
import { EditShareDialog } from './EditShareDialog.js';
import { shareMessages as messages } from './messages.js';
import styles from './SharesList.module.css';
import { shareName } from './shareName.js';

export interface SharesListProps {
	shares: readonly Share[];
	onPause: (share: Share) => void;
	/** Resolves to whether it is gone. */
	onRemove: (share: Share) => Promise<boolean>;
	onChanged: (share: Share) => void;
}

const intents = { active: 'success', paused: 'warning', expired: 'none', used: 'none', gone: 'danger' } as const;

/** The shares of the signed-in user, each with what can be done with it. */
export function SharesList({ shares, onPause, onRemove, onChanged }: SharesListProps) {
	const [dialog, setDialog] = useState<{ kind: 'edit' | 'delete'; share: Share }>();
	const [isOpen, setOpen] = useState(false);
	const list = useRef<HTMLUListElement>(null);
	const open = (kind: 'edit' | 'delete', share: Share) => {
		setDialog({ kind, share });
		setOpen(true);
	};
	const openings = useOpenings(isOpen);
	const close = () => setOpen(false);
	/** The button that opened the dialog may be gone with its share. */
	const closed = () => {
		setDialog(undefined);
		if (!isFocusLost() && document.activeElement?.closest('[role=dialog]')) return;
		list.current?.querySelector('button')?.focus();
	};
	return (
		<>
			<ul ref={list} className={styles.list} aria-label={messages.shares}>
				{shares.map((share) => (
					<ShareRow key={share.id} share={share} onOpen={open} onPause={onPause} />
				))}
			</ul>
			{dialog?.kind === 'edit' && (
				<EditShareDialog
					key={openings}
					isOpen={isOpen}
					share={dialog.share}
					onChanged={onChanged}
					onClose={close}
					onClosed={closed}
				/>
			)}
			{dialog?.kind === 'delete' && (
				<FormDialog
					key={openings}
					isOpen={isOpen}
					title={messages.deleteShare}
					confirm={messages.delete}
					intent="danger"
					focusesConfirm
					onConfirm={() => onRemove(dialog.share)}
					onClose={close}
					onClosed={closed}
				>
					<p>{messages.deleteLead(shareName(dialog.share))}</p>
				</FormDialog>
			)}
		</>
	);
}

interface ShareRowProps {
	share: Share;
	onOpen: (kind: 'edit' | 'delete', share: Share) => void;
	onPause: (share: Share) => void;
}

function ShareRow({ share, onOpen, onPause }: ShareRowProps) {
	const { state, url, isPaused } = share;
	const items = itemsOf(share);
	const id = useId();
	const copy = useCopyUrl();
	return (
		<li className={styles.share} aria-labelledby={id}>
			<div className={styles.head}>
				<span id={id} className={styles.title}>
					{shareName(share)}
				</span>
				<Tag minimal intent={intents[state]}>
					{messages.states[state]}
				</Tag>
			</div>
			{items !== '' && <div className={styles.items}>{items}</div>}
			<div className={styles.note}>{factsOf(share).join(' · ')}</div>
			{url === null && <div className={styles.note}>{messages.noLink}</div>}
			<div className={styles.actions}>
				{url !== null && <Button variant="minimal" text={messages.copyLink} onClick={() => copy(url)} />}
				<Button variant="minimal" text={messages.edit} onClick={() => onOpen('edit', share)} />
				<Button variant="minimal" text={isPaused ? messages.resume : messages.pause} onClick={() => onPause(share)} />
				<Button variant="minimal" intent="danger" text={messages.delete} onClick={() => onOpen('delete', share)} />
			</div>
		</li>
	);
}

const maxNamed = 3;

/** What it shares, where its name does not say all of that: empty where it does. */
function itemsOf({ items, ...share }: Share): string {
	const paths = items.slice(0, maxNamed).map(({ path }) => shownName(path));
	if (items.length === 1 && paths[0] === shareName({ ...share, items })) return '';
	return [...paths, ...(items.length > maxNamed ? [messages.more(items.length - maxNamed)] : [])].join(', ');
}

/** What was chosen for it, and what it was used for so far. */
function factsOf(share: Share): string[] {
	const { mode, state, hasPassword, expiresAt, lastUsedAt } = share;
	const end = state === 'expired' ? messages.expiredAt : messages.expiresAt;
	return [
		messages.modes[mode],
		...(hasPassword ? [messages.hasPassword] : []),
		expiresAt === null ? messages.never : end(formatDate(expiresAt), formatTime(expiresAt)),
		...countsOf(share),
		...(lastUsedAt === null ? [] : [messages.lastUsed(formatDate(lastUsedAt))]),
	];
}

function countsOf({
	mode,
	downloads,
	maxDownloads,
	bytesSent,
	uploads,
	bytesReceived,
	maxUploadBytes,
}: Share): string[] {
	const sent =
		maxDownloads === null ? plural(downloads, 'download') : `${downloads} of ${plural(maxDownloads, 'download')}`;
	const received = plural(uploads, 'upload');
	const room =
		maxUploadBytes === null ? '' : messages.ofRoom(formatListSize(bytesReceived), formatListSize(maxUploadBytes));
	return [
		...(mode === 'upload' ? [] : [withSize(sent, bytesSent)]),
		...(mode === 'view' ? [] : [room === '' ? withSize(received, bytesReceived) : `${received} (${room})`]),
	];
}

function withSize(text: string, bytes: number): string {
	return bytes === 0 ? text : `${text} (${formatListSize(bytes)})`;
}
