import { Button, Spinner } from '@blueprintjs/core';
import { TickCircleIcon, WarningSignIcon } from '@blueprintjs/icons';
import { startTotp } from '@stowage/contract';
import { plural } from '@stowage/rules';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../../api/client/client.js';
import type { TwoFactorSetup as Setup } from '../../../api/session/twoFactor.js';
import { useOpenings } from '../../../ui/dialogs/dialogs.js';
import { ListError } from '../../../ui/dialogs/ListDialog.js';
import { FormError } from '../../../ui/display/FormError.js';
import { isFocusLost } from '../../../ui/keyboard/keptFocus.js';
import { lazyComponent } from '../../../ui/lazyComponent.js';
import { type Hold, Section, useHold } from '../Section.js';
import { ConfirmedFields } from './ConfirmedFields.js';
import { twoFactorMessages as messages } from './messages.js';
import { areFew } from './recoveryCodes.js';
import { TurnOffDialog } from './TurnOffDialog.js';
import styles from './TwoFactorSection.module.css';
import { useConfirmedCall } from './useConfirmedCall.js';
import { useTwoFactor } from './useTwoFactor.js';

const TwoFactorSetup = lazyComponent(async () => (await import('./TwoFactorSetup.js')).TwoFactorSetup);

export interface TwoFactorSectionProps {
	username: string;
	hold: Hold;
	/** Whether it shows a secret that can't be shown again. */
	onSecret: (isShown: boolean) => void;
}

/** Turns two-factor sign-in on and off. */
export function TwoFactorSection({ username, hold, onSecret }: TwoFactorSectionProps) {
	const { state, error, reload, show } = useTwoFactor(username);
	const [setup, setSetup] = useState<Setup>();
	/** Why the last setup was dropped. */
	const [dropped, setDropped] = useState<string>();
	const [isAsking, setAsking] = useState(false);
	const openings = useOpenings(isAsking);
	const title = useRef<HTMLHeadingElement>(null);
	const view = !state ? (error ? 'failed' : 'loading') : state.isEnabled ? 'on' : setup ? 'setup' : 'off';
	// It was turned on, here or elsewhere.
	if (view === 'on' && setup) setSetup(undefined);

	useEffect(() => {
		// The control that had the focus was removed with the view before.
		if (view !== 'loading' && isFocusLost()) title.current?.focus();
	}, [view]);

	const holdsSecret = view === 'setup';
	useHold(hold, holdsSecret || isAsking);
	useEffect(() => {
		if (!holdsSecret) return;
		onSecret(true);
		return () => onSecret(false);
	}, [holdsSecret, onSecret]);

	return (
		<Section title={messages.title} titleRef={title}>
			{view === 'loading' && <Loading />}
			{view === 'failed' && <ListError title={messages.loadFailed} reason={error?.message ?? ''} onRetry={reload} />}
			{view === 'off' && (
				<TurnOn
					username={username}
					hold={hold}
					onStart={() => setDropped(undefined)}
					onStarted={setSetup}
					onFocusLost={() => title.current?.focus()}
				/>
			)}
			{view === 'setup' && setup && (
				<TwoFactorSetup
					fallback={<Loading />}
					onLoadFailed={() => setSetup(undefined)}
					username={username}
					setup={setup}
					onConfirmed={() => show({ isEnabled: true, recoveryCodesLeft: setup.recoveryCodes.length })}
					onNoAnswer={reload}
					onOutOfDate={(reason) => {
						setSetup(undefined);
						setDropped(reason);
						reload();
					}}
					onCancel={() => setSetup(undefined)}
				/>
			)}
			{state?.isEnabled && <TurnedOn codesLeft={state.recoveryCodesLeft} onTurnOff={() => setAsking(true)} />}
			{dropped !== undefined && <FormError className={styles.dropped}>{dropped}</FormError>}
			<TurnOffDialog
				key={openings}
				isOpen={isAsking}
				username={username}
				onTurnedOff={() => {
					setDropped(undefined);
					// Also where it was closed meanwhile and asks again.
					setAsking(false);
					return show({ isEnabled: false, recoveryCodesLeft: 0 });
				}}
				onClose={() => setAsking(false)}
				onClosed={() => {
					// The button that opened it was removed.
					if (!title.current?.closest('section')?.contains(document.activeElement)) title.current?.focus();
				}}
			/>
		</Section>
	);
}

/** A placeholder about as high as the content that replaces it, so that the sections below don't move. */
function Loading() {
	return (
		<div className={styles.loading} role="status">
			<Spinner size={20} aria-label={messages.loading} />
		</div>
	);
}

interface TurnOnProps {
	username: string;
	hold: Hold;
	onStart: () => void;
	onStarted: (setup: Setup) => void;
	/** The pressed button is disabled while it is busy. */
	onFocusLost: () => void;
}

function TurnOn({ username, hold, onStart, onStarted, onFocusLost }: TurnOnProps) {
	const start = useConfirmedCall({
		username,
		request(payload) {
			onStart();
			return call(startTotp, { payload });
		},
		onSuccess: onStarted,
		failed: messages.turnOnFailed,
	});
	const { password, setPassword, error, isPasswordWrong, isBusy, maySubmit, submit } = start;
	const button = useRef<HTMLButtonElement>(null);

	const isAsked = password !== undefined;
	useHold(hold, isBusy || isAsked);
	useEffect(() => {
		if (!isAsked) return;
		// `Cancel`, which had the focus, was removed.
		return () => button.current?.focus();
	}, [isAsked]);
	useEffect(() => {
		if (error !== undefined && !isPasswordWrong) button.current?.focus();
	}, [error, isPasswordWrong]);

	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (document.activeElement === button.current) onFocusLost();
				void submit();
			}}
		>
			<p className={styles.note}>{messages.note}</p>
			<ConfirmedFields username={username} call={start} />
			<div className={styles.actions}>
				{isAsked && <Button text={messages.cancel} disabled={isBusy} onClick={() => setPassword(undefined)} />}
				<Button ref={button} type="submit" text={messages.turnOn} disabled={!maySubmit} loading={isBusy} />
			</div>
		</form>
	);
}

function TurnedOn({ codesLeft, onTurnOff }: { codesLeft: number; onTurnOff: () => void }) {
	return (
		<>
			<div className={styles.on}>
				<span className={styles.icon}>
					<TickCircleIcon />
				</span>
				<span className={styles.state}>{messages.on}</span>
				<span className={styles.note}>{messages.codesLeft(plural(codesLeft, 'recovery code'))}</span>
				<Button
					className={styles.turnOff}
					variant="outlined"
					intent="danger"
					text={messages.turnOff}
					onClick={onTurnOff}
				/>
			</div>
			{areFew(codesLeft) && (
				<p className={styles.few}>
					<WarningSignIcon />
					{messages.fewCodesLeft}
				</p>
			)}
		</>
	);
}
