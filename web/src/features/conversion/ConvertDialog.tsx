import { Button, Dialog, DialogBody, DialogFooter, Tag } from '@blueprintjs/core';
import { SmallCrossIcon } from '@blueprintjs/icons';
import type { Area, Entry } from '@stowage/rules';
import { useEffect, useId, useRef, useState } from 'react';
import { isActive } from '../../api/jobs/jobs.js';
import { dialogMilliseconds } from '../../ui/dialogs/dialogs.js';
import { useTyping } from '../../ui/dialogs/useTyping.js';
import { FormError } from '../../ui/display/FormError.js';
import { ConversionList } from './ConversionList.js';
import { ConversionSetup } from './ConversionSetup.js';
import styles from './ConvertDialog.module.css';
import { type ConversionChoice, type OverallState, outputPaths } from './conversionState.js';
import type { ConversionProblem } from './conversions.js';
import { conversionMessages as messages } from './messages.js';
import type { LeftConversions } from './useBackgroundConversions.js';
import { type Conversions, useConversions } from './useConversions.js';

export interface ConvertDialogProps {
	isOpen: boolean;
	/** The area of the videos, whichever is on screen. */
	area: Area;
	videos: readonly Entry[];
	/** Whether it stays open in other folders: once conversions are being started, unless none was. */
	onKept: (isKept: boolean) => void;
	onClose: () => void;
	onClosed: () => void;
	/** Called when there is a new file, and again when the dialog is closed. */
	onConverted: (outputPaths: readonly string[]) => void;
	/** The dialog is closed before these have ended. */
	onContinue: (left: LeftConversions) => void;
}

/** Asks how videos are converted, starts that and shows the progress. The server continues without the dialog. */
export function ConvertDialog(props: ConvertDialogProps) {
	const { isOpen, area, videos, onKept, onClose, onClosed, onConverted, onContinue } = props;
	const titleId = useId();
	const conversion = useConversions({ area, videos, onConverted, onContinue });
	const { state, conversions, isStarting, startProblem, cancelProblem, startOthers } = conversion;
	const heading = useRef<HTMLHeadingElement>(null);
	const dialogElement = () => heading.current?.closest<HTMLElement>('[role=dialog]');
	const focusFirst = () => dialogElement()?.querySelector<HTMLElement>('[data-first-focus]')?.focus();
	const retry = () => {
		// Its button is removed, and the focus would be lost.
		focusFirst();
		void startOthers?.();
	};
	const problems = (
		<>
			{startProblem && <Problem {...startProblem} onRetry={startOthers && retry} />}
			{cancelProblem && <Problem {...cancelProblem} />}
		</>
	);
	const [isAsking, setAsking] = useState(false);
	const isRunning = conversions.some(isActive);
	const canCancel = conversions.some((each) => isActive(each) && !each.isCancelling);
	const isSetup = state === 'setup';
	const { hasTyped, onInput } = useTyping(isOpen && isSetup);
	/** The element that had the focus before the question may be gone by the time that it is answered. */
	const keepFocus = () => {
		if (!dialogElement()?.contains(document.activeElement)) focusFirst();
	};
	const start = async (choice: ConversionChoice) => {
		// While it fades out it is not asked any more.
		if (!isOpen) return;
		onKept(true);
		let isStarted = false;
		try {
			isStarted = await conversion.start(choice);
		} finally {
			if (!isStarted) onKept(false);
		}
	};
	const leave = () => {
		const outputs = outputPaths(conversions);
		if (outputs.length > 0) onConverted(outputs);
		conversion.leave();
		onClose();
	};
	const close = () => {
		// What is being started goes on, and what is being cancelled was asked about.
		if (canCancel && !isStarting) setAsking(true);
		else leave();
	};
	return (
		<Dialog
			isOpen={isOpen}
			className={styles.dialog}
			aria-labelledby={titleId}
			canEscapeKeyClose={!isStarting && !isRunning}
			canOutsideClickClose={!isStarting && !isRunning && !hasTyped}
			transitionDuration={dialogMilliseconds}
			onClose={close}
			onClosed={onClosed}
		>
			<div className="bp6-dialog-header">
				<h2 ref={heading} id={titleId} className="bp6-heading">
					{isSetup ? messages.convert(videos.length) : messages.conversion}
				</h2>
				<StatusChip state={isStarting ? 'starting' : state} />
				{(isRunning || isStarting) && (
					<Button
						variant="minimal"
						className={styles.close}
						icon={<SmallCrossIcon />}
						aria-label={messages.close}
						onClick={close}
					/>
				)}
			</div>
			{isSetup ? (
				<ConversionSetup
					videos={videos}
					isStarting={isStarting}
					problem={problems}
					onInput={onInput}
					onStart={start}
					onCancel={close}
				/>
			) : (
				<>
					<DialogBody>
						<Banner state={state} conversions={conversions} />
						{problems}
						<ConversionList conversions={conversions} />
					</DialogBody>
					<DialogFooter
						className={styles.footer}
						actions={
							isRunning ? (
								<Running onCancel={() => canCancel && setAsking(true)} onContinue={leave} />
							) : (
								<FirstFocus key="ended" text={messages.close} onClick={close} />
							)
						}
					/>
				</>
			)}
			<CancelQuestion
				isOpen={isAsking && isRunning}
				onClosed={keepFocus}
				onContinue={() => setAsking(false)}
				onCancel={() => {
					setAsking(false);
					void conversion.cancel();
				}}
			/>
		</Dialog>
	);
}

const chipIntents = { completed: 'success', failed: 'danger', cancelled: 'warning' } as const;

function StatusChip({ state }: { state: OverallState | 'starting' }) {
	const intent = chipIntents[state as keyof typeof chipIntents] ?? 'none';
	return (
		<Tag minimal round intent={intent} className={styles.chip} data-state={state}>
			{messages.states[state]}
		</Tag>
	);
}

/** The result, and while conversions run the number of those that have ended. */
function Banner({ state, conversions }: Pick<Conversions, 'state' | 'conversions'>) {
	const isRunning = conversions.some(isActive);
	const ended = conversions.filter((conversion) => !isActive(conversion)).length;
	return (
		<div className={styles.banner} data-state={isRunning ? 'running' : state} role="status">
			{!isRunning && state !== 'setup' ? messages[state as 'completed' | 'failed' | 'cancelled'] : null}
			{isRunning && messages.ended(ended, conversions.length)}
		</div>
	);
}

function Problem({ message, lines, hint, onRetry }: ConversionProblem & { onRetry?: (() => void) | undefined }) {
	return (
		<FormError
			className={styles.problem}
			reason={
				(lines.length > 0 || hint !== undefined || onRetry) && (
					<>
						{lines.length > 0 && (
							<ul className={styles.lines}>
								{lines.map((line) => (
									<li key={line}>{line}</li>
								))}
							</ul>
						)}
						{hint !== undefined && <p className={styles.hint}>{hint}</p>}
						{onRetry && <Button className={styles.retry} size="small" text={messages.startOthers} onClick={onRetry} />}
					</>
				)
			}
		>
			{message}
		</FormError>
	);
}

function Running({ onCancel, onContinue }: { onCancel: () => void; onContinue: () => void }) {
	return (
		<>
			<Button
				className={styles.cancel}
				variant="minimal"
				intent="danger"
				text={messages.cancelConversions}
				onClick={onCancel}
			/>
			<FirstFocus key="running" text={messages.continueInBackground} onClick={onContinue} />
		</>
	);
}

/** Takes the focus when it takes the place of a button that had it. */
function FirstFocus({ text, onClick }: { text: string; onClick: () => void }) {
	const button = useRef<HTMLButtonElement>(null);
	useEffect(() => button.current?.focus(), []);
	return <Button ref={button} data-first-focus intent="primary" text={text} onClick={onClick} />;
}

function CancelQuestion(props: {
	isOpen: boolean;
	onContinue: () => void;
	onCancel: () => void;
	onClosed: () => void;
}) {
	const { isOpen, onContinue, onCancel, onClosed } = props;
	return (
		<Dialog
			isOpen={isOpen}
			role="alertdialog"
			title={messages.cancelConversions}
			isCloseButtonShown={false}
			transitionDuration={dialogMilliseconds}
			onClose={onContinue}
			onClosed={onClosed}
		>
			<DialogBody>{messages.cancelQuestion}</DialogBody>
			<DialogFooter
				actions={
					<>
						<Button text={messages.continue} autoFocus onClick={onContinue} />
						<Button intent="danger" text={messages.cancelConversions} onClick={onCancel} />
					</>
				}
			/>
		</Dialog>
	);
}
