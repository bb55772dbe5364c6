import { Button, Dialog, DialogBody, DialogFooter, ProgressBar, Spinner } from '@blueprintjs/core';
import { useEffect, useId, useRef } from 'react';
import { isActive, type Job } from '../../api/jobs/jobs.js';
import { dialogMilliseconds, useOpenings } from '../../ui/dialogs/dialogs.js';
import styles from './ActivityDialog.module.css';
import { barOf, detailText, statusText } from './jobText.js';
import { activityMessages as messages } from './messages.js';
import { useActivity, useAnnouncement } from './useActivity.js';

export interface ActivityDialogProps {
	isOpen: boolean;
	username: string;
	onClose: () => void;
	onClosed: () => void;
}

/** The long work of the signed-in user, from every device, as it goes on. */
export function ActivityDialog({ isOpen, username, onClose, onClosed }: ActivityDialogProps) {
	const close = useRef<HTMLButtonElement>(null);
	const openings = useOpenings(isOpen);
	return (
		<Dialog
			key={openings}
			isOpen={isOpen}
			className={styles.dialog}
			title={messages.activity}
			isCloseButtonShown={false}
			transitionDuration={dialogMilliseconds}
			onClose={onClose}
			onClosed={onClosed}
		>
			<DialogBody>
				<Activity username={username} onFocusLost={() => close.current?.focus()} />
			</DialogBody>
			<DialogFooter actions={<Button ref={close} text={messages.close} autoFocus onClick={onClose} />} />
		</Dialog>
	);
}

function Activity({ username, onFocusLost }: { username: string; onFocusLost: () => void }) {
	const { jobs, error, reload, ...actions } = useActivity(username);
	if (!jobs) {
		return error ? (
			<div className={styles.state} role="alert">
				<p>{messages.loadFailed}</p>
				<p className={styles.hint}>{error.message}</p>
				<Button text={messages.tryAgain} onClick={reload} />
			</div>
		) : (
			<div className={styles.state} role="status">
				<Spinner size={24} aria-label={messages.loading} />
			</div>
		);
	}
	return <JobList jobs={jobs} {...actions} onFocusLost={onFocusLost} />;
}

interface JobListProps extends Omit<JobRowProps, 'job' | 'isCancelling'> {
	jobs: readonly Job[];
	isCancelling: (job: Job) => boolean;
	onFocusLost: () => void;
}

function JobList({ jobs, isCancelling, onFocusLost, ...actions }: JobListProps) {
	const announced = useAnnouncement(jobs);
	const list = useRef<HTMLUListElement>(null);
	const lastFocused = useRef<string>(undefined);
	useEffect(() => {
		if (document.activeElement !== document.body) return;
		// Its row was moved, or its button is gone, since its job has changed.
		const row = [...(list.current?.children ?? [])].find(({ id }) => id === lastFocused.current);
		const button = row?.querySelector('button');
		if (button) button.focus();
		else onFocusLost();
	});
	return (
		<>
			<div className="visually-hidden" role="status">
				{announced}
			</div>
			{jobs.length === 0 ? (
				<div className={styles.state}>
					<p>{messages.none}</p>
					<p className={styles.hint}>{messages.noneHint}</p>
				</div>
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
					{jobs.map((job) => (
						<JobRow key={job.id} job={job} isCancelling={isCancelling(job)} {...actions} />
					))}
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
	const canCancel = isActive(job);
	return (
		<li id={`job-${job.id}`} className={styles.job} data-status={job.status}>
			<span className={styles.title} id={titleId} title={job.title}>
				{job.title}
			</span>
			<span className={styles.status}>{isCancelling ? messages.cancelling : statusText(job)}</span>
			<ProgressBar
				className={styles.progress}
				aria-labelledby={titleId}
				intent={canCancel ? 'primary' : 'none'}
				animate={false}
				stripes={false}
				value={barOf(job)}
			/>
			<span className={styles.detail}>
				{job.error !== null && <span className={styles.error}>{job.error}</span>}
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
