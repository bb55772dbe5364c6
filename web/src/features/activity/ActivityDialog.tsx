import { Button, ProgressBar } from '@blueprintjs/core';
import { shownName } from '@stowage/rules';
import { useEffect, useId, useRef } from 'react';
import { holdText } from '../../api/jobs/jobReasons.js';
import { isActive, type Job } from '../../api/jobs/jobs.js';
import { ListDialog, ListEmpty, ListError, ListLoading } from '../../ui/dialogs/ListDialog.js';
import { isFocusLost } from '../../ui/keyboard/keptFocus.js';
import styles from './ActivityDialog.module.css';
import { type ActivityItem, changeDetail, changeTitle, receiptDetail, receiptTitle } from './activityItems.js';
import { detailText, errorText, progressOf, statusText } from './jobText.js';
import { activityMessages as messages } from './messages.js';
import { useActivity, useAnnouncement } from './useActivity.js';

export interface ActivityDialogProps {
	isOpen: boolean;
	username: string;
	onClose: () => void;
	onClosed: () => void;
}

/**
 * The jobs of the signed-in user, from every device, with their progress, what their shares have received, and what
 * others have changed in their folders.
 */
export function ActivityDialog({ isOpen, username, onClose, onClosed }: ActivityDialogProps) {
	return (
		<ListDialog
			isOpen={isOpen}
			className={styles.dialog}
			title={messages.activity}
			onClose={onClose}
			onClosed={onClosed}
		>
			{(focusClose) => <Activity username={username} onFocusLost={focusClose} />}
		</ListDialog>
	);
}

function Activity({ username, onFocusLost }: { username: string; onFocusLost: () => void }) {
	const { items, error, reload, ...actions } = useActivity(username);
	if (!items) {
		if (error) return <ListError title={messages.loadFailed} reason={error.message} onRetry={reload} />;
		return <ListLoading label={messages.loading} />;
	}
	return <ActivityList items={items} {...actions} onFocusLost={onFocusLost} />;
}

interface ActivityListProps extends Omit<JobRowProps, 'job' | 'isCancelling'> {
	items: readonly ActivityItem[];
	jobs: readonly Job[];
	isCancelling: (job: Job) => boolean;
	onFocusLost: () => void;
}

function ActivityList({ items, jobs, isCancelling, onFocusLost, ...actions }: ActivityListProps) {
	const announced = useAnnouncement(jobs);
	const list = useRef<HTMLUListElement>(null);
	const lastFocused = useRef<string>(undefined);
	useEffect(() => {
		if (!isFocusLost()) return;
		// Its row was moved, or its button is gone, since its job has changed.
		const index = items.findIndex(({ id }) => id === lastFocused.current);
		const button = list.current?.children[index]?.querySelector('button');
		if (button) button.focus();
		else onFocusLost();
	}, [items, onFocusLost]);
	return (
		<>
			<div className="visually-hidden" role="status">
				{announced}
			</div>
			{items.length === 0 ? (
				<ListEmpty title={messages.none} hint={messages.noneHint} />
			) : (
				<ul
					ref={list}
					className={styles.jobs}
					// biome-ignore lint/a11y/noNoninteractiveTabindex: so that the keyboard can scroll it
					tabIndex={0}
					aria-label={messages.list}
					onFocus={({ target }) => {
						lastFocused.current = target.closest('li')?.id;
					}}
				>
					{items.map((item) =>
						item.kind === 'job' ? (
							<JobRow key={item.id} job={item.job} isCancelling={isCancelling(item.job)} {...actions} />
						) : item.kind === 'received' ? (
							<OtherRow
								key={item.id}
								title={receiptTitle(item.receipt)}
								status={messages.receivedState}
								detail={receiptDetail(item.receipt)}
							/>
						) : (
							<OtherRow
								key={item.id}
								title={changeTitle(item.change)}
								status={messages.changedState}
								detail={changeDetail(item.change)}
							/>
						),
					)}
				</ul>
			)}
		</>
	);
}

interface JobRowProps {
	job: Job;
	isCancelling: boolean;
	cancel: (job: Job) => void;
	retry: (job: Job) => void;
}

function JobRow({ job, isCancelling, cancel, retry }: JobRowProps) {
	const titleId = useId();
	const { canCancel } = job;
	const hold = holdText(job);
	const error = errorText(job);
	const title = shownName(job.title);
	return (
		<li id={`job-${job.id}`} className={styles.job} data-status={job.status} data-failed={error !== undefined}>
			<span className={styles.title} id={titleId} title={title}>
				{title}
			</span>
			<span className={styles.status}>{isCancelling ? messages.cancelling : statusText(job)}</span>
			<ProgressBar
				className={styles.progress}
				aria-labelledby={titleId}
				intent={isActive(job) ? 'primary' : 'none'}
				animate={false}
				stripes={false}
				value={progressOf(job)}
			/>
			<span className={styles.detail}>
				{error !== undefined && <span className={styles.error}>{error}</span>}
				{hold !== undefined && <span>{shownName(hold)}</span>}
				<span>{detailText(job)}</span>
			</span>
			<span className={styles.action}>
				{(canCancel || job.canRetry) && (
					<Button
						variant="minimal"
						size="small"
						text={canCancel ? messages.cancel : messages.retry}
						aria-describedby={titleId}
						// Not disabled, since a button that has the focus would swallow every key.
						aria-disabled={isCancelling}
						onClick={() => {
							if (!isCancelling) (canCancel ? cancel : retry)(job);
						}}
					/>
				)}
			</span>
		</li>
	);
}

/** What others have done. */
function OtherRow({ title, status, detail }: { title: string; status: string; detail: string }) {
	return (
		<li className={styles.job} data-status="completed">
			<span className={styles.title} title={title}>
				{title}
			</span>
			<span className={styles.status}>{status}</span>
			<span className={styles.detail}>{detail}</span>
		</li>
	);
}
