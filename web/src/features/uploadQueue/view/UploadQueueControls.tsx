import { Button, HTMLSelect, ProgressBar } from '@blueprintjs/core';
import { formatQueueSize, plural } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, use, useId, useMemo, useState } from 'react';
import { capabilitiesQuery } from '../../../api/capabilities.js';
import { messages } from '../../../messages.js';
import { QuotaNote } from '../../../ui/display/QuotaNote.js';
import { FrameContext } from '../../../ui/frame.js';
import { choicesFor } from '../conflicts/conflicts.js';
import { useUploader, useUploaderName } from '../destination.js';
import { findItem } from '../queueItem.js';
import { fraction, mayStart, runProgress } from '../queueSummary.js';
import { type UploadQueueView, useUploadQueue } from '../useUploadQueue.js';
import { IfExistsSelect } from './IfExistsSelect.js';
import { RemoveDialog } from './RemoveDialog.js';
import styles from './UploadQueue.module.css';

export function queueTitle({ items }: Pick<UploadQueueView, 'items'>): string {
	return messages.uploadQueue(plural(items.length, 'file'));
}

/** What a run that succeeded has done. */
export function outcomeText({ summary: { completed, skipped } }: Pick<UploadQueueView, 'summary'>): string {
	const uploaded = completed > 0 ? messages.uploadSucceeded : messages.nothingUploaded;
	return skipped === 0 ? uploaded : `${uploaded} ${messages.uploadSkipped(plural(skipped, 'file'))}`;
}

/** The choices for all files. */
export function SetAll(view: UploadQueueView) {
	return (
		<>
			<SetAllTo {...view} />
			<IfTheyExist {...view} />
		</>
	);
}

/** What happens to all files whose names are taken; shown if there may be some. */
function IfTheyExist({ conflicts, summary, isRunning }: UploadQueueView) {
	const queue = useUploadQueue();
	const isVisitor = useUploader() !== 'signedIn';
	if (conflicts.choice === undefined) return null;
	return (
		<IfExistsSelect
			label={messages.ifTheyExist}
			value={conflicts.choice}
			choices={choicesFor('file', isVisitor)}
			isDisabled={isRunning || summary.own === 0}
			onChange={queue.setAllIfExists}
		/>
	);
}

/** Sets the visibility of all files. Visitors have no choice. */
function SetAllTo({ summary, isRunning }: UploadQueueView) {
	const queue = useUploadQueue();
	const id = useId();
	const isUser = useUploader() === 'signedIn';
	if (!isUser || summary.visibility === undefined) return null;
	return (
		<div className={styles.setAll}>
			<label htmlFor={id}>{messages.setAllTo}</label>
			<HTMLSelect
				id={id}
				value={summary.visibility}
				disabled={isRunning || summary.own === 0}
				onChange={(event) => queue.setAllVisibility(event.currentTarget.value === 'public')}
			>
				<option value="private">{messages.private}</option>
				<option value="public">{messages.public}</option>
				{/* Only shows that the files differ; it can't be chosen. */}
				<option value="mixed" disabled hidden={summary.visibility !== 'mixed'}>
					{messages.mixed}
				</option>
			</HTMLSelect>
		</div>
	);
}

export interface UploadQueueFooterProps extends UploadQueueView {
	/** The queued files, which get the focus as their upload begins. */
	list: RefObject<HTMLElement | null>;
	/** @default false */
	hasFocusFirst?: boolean;
}

/** The error, the progress of the whole run, and the two buttons. */
export function UploadQueueFooter({ list, hasFocusFirst = false, ...view }: UploadQueueFooterProps) {
	const { items, summary, isRunning, failure, progress } = view;
	const queue = useUploadQueue();
	const openSignIn = use(FrameContext)?.openSignIn;
	const uploader = useUploader();
	const { data: capabilities } = useQuery({ ...capabilitiesQuery, enabled: uploader !== 'guest' });
	const mayVisitorsUpload = capabilities === undefined || capabilities.visitors === 'upload';
	const current = useUploaderName();
	const accounts = [...summary.accounts];
	/** Somebody else than who is signed in. */
	const missing = accounts.find((username) => username !== undefined && username !== current);
	const waitsForSignIn =
		!isRunning &&
		((uploader === 'signedOut' && !mayVisitorsUpload && summary.waiting.length > 0) ||
			((uploader === 'signedOut' || uploader === 'signedIn') && missing !== undefined));
	// Another user's files hold up nobody's own.
	const mayUpload = uploader === 'signedIn' || (uploader === 'signedOut' && mayVisitorsUpload);
	const mayUploadSome = mayUpload && summary.own > 0;
	const [isAsking, setAsking] = useState(false);
	/** All that there is to be removed is of others, who may want it uploaded. */
	const isOthersOnly = !isRunning && summary.own === 0 && summary.waiting.length === items.length;
	const stoppedForSignIn = isRunning && progress?.wait === 'signIn';
	const stoppedFor = progress && findItem(items, progress.id)?.username;
	const start = () => {
		// The button will be disabled, and a disabled button that has the focus swallows every key. On `Cancel` a second
		// press of Enter would throw all files away.
		list.current?.focus();
		queue.start();
	};
	return (
		<div className={styles.footer}>
			{uploader !== 'guest' && <QuotaNote />}
			{failure !== undefined && (
				<div className={styles.alert} role="alert">
					{messages.uploadFailedBecause(failure)}
				</div>
			)}
			{(waitsForSignIn || stoppedForSignIn) && (
				<div className={styles.hint} role="status">
					<span>{stoppedForSignIn ? messages.signInToGoOn(stoppedFor) : messages.signInToUpload(missing)}</span>
					<Button variant="minimal" intent="primary" text={messages.signIn} onClick={openSignIn} />
				</div>
			)}
			<div className={styles.footerLine}>
				<AggregateProgress {...view} />
				<div className={styles.footerActions}>
					<Button text={messages.cancel} onClick={isOthersOnly ? () => setAsking(true) : queue.cancel} />
					<Button
						autoFocus={hasFocusFirst}
						intent="primary"
						text={isRunning ? messages.uploading : messages.uploadAll}
						disabled={!mayStart(summary, isRunning)}
						onClick={waitsForSignIn && !mayUploadSome ? openSignIn : start}
					/>
				</div>
			</div>
			<RemoveDialog
				title={messages.removeOthers}
				question={
					isAsking ? messages.removeOthersQuestion(accounts.filter((name) => name !== undefined).join(', ')) : undefined
				}
				onRemove={() => {
					queue.removeOthers();
					setAsking(false);
				}}
				onClose={() => setAsking(false)}
				onClosed={() => {}}
			/>
		</div>
	);
}

function AggregateProgress({ items, run, isRunning, progress, hasSucceeded }: UploadQueueView) {
	const done = useMemo(() => runProgress({ items, run }), [items, run]);
	const { completed, total, totalSize } = done;
	if (!isRunning && !hasSucceeded) return <div className={styles.aggregate}>{formatQueueSize(totalSize)}</div>;
	const uploadedSize = done.uploadedSize + (progress?.uploadedSize ?? 0);
	return (
		<div className={styles.aggregate}>
			<div className={styles.aggregateText}>
				<span>{messages.filesDone(completed, total)}</span>
				<span>{messages.doneOf(formatQueueSize(uploadedSize), formatQueueSize(totalSize))}</span>
			</div>
			<ProgressBar
				aria-label={messages.uploading}
				intent={hasSucceeded ? 'success' : 'primary'}
				animate={false}
				stripes={false}
				value={hasSucceeded ? 1 : overall(completed, total, uploadedSize, totalSize)}
			/>
		</div>
	);
}

/** The overall fraction, by bytes, or by files if all are empty. */
function overall(completed: number, total: number, uploadedSize: number, totalSize: number): number {
	return totalSize > 0 ? fraction(uploadedSize, totalSize) : fraction(completed, total);
}
