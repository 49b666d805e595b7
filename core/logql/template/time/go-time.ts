import { civilFromDays, daysFromCivil, type CivilDate } from './civil.js';
import { printGoTime } from './format.js';
import { local, utc, type Zone } from './zone.js';

const secondsPerDay = 86_400;
/** Seconds from the year 1, Go's epoch, to 1970. */
export const unixOfYearOne = -62_135_596_800;
const billion = 1_000_000_000n;

/** Go's time.Time. */
export class GoTime {
  readonly kind = 'time';
  /** Seconds since 1970. */
  readonly unix: number;
  /** 0 to 999999999. */
  readonly nanosecond: number;
  readonly zone: Zone;
  /** Monotonic clock in nanoseconds, which `now` has and prints. */
  readonly monotonic: bigint | undefined;

  constructor(unix: number, nanosecond: number, zone: Zone, monotonic?: bigint) {
    this.unix = unix;
    this.nanosecond = nanosecond;
    this.zone = zone;
    this.monotonic = monotonic;
  }

  static fromNanoseconds(nanoseconds: bigint, zone: Zone = local): GoTime {
    let seconds = nanoseconds / billion;
    let rest = nanoseconds % billion;
    if (rest < 0n) {
      seconds -= 1n;
      rest += billion;
    }
    return new GoTime(Number(seconds), Number(rest), zone);
  }

  /** The time at which clocks of the zone show these values; values out of range carry over. */
  static fromParts(date: CivilDate, secondOfDay: number, nanosecond: number, zone: Zone): GoTime {
    const shown = daysFromCivil(date.year, date.month, date.day) * secondsPerDay + secondOfDay;
    const { offset } = zone.at(shown);
    // This offset is valid at the shown time; near a change, the actual time may have another.
    return new GoTime(offset === 0 ? shown : shown - zone.at(shown - offset).offset, nanosecond, zone);
  }

  get nanoseconds(): bigint {
    return BigInt(this.unix) * billion + BigInt(this.nanosecond);
  }

  get offset(): number {
    return this.zone.at(this.unix).offset;
  }

  get days(): number {
    return Math.floor((this.unix + this.offset) / secondsPerDay);
  }

  get date(): CivilDate {
    return civilFromDays(this.days);
  }

  get secondOfDay(): number {
    return this.unix + this.offset - this.days * secondsPerDay;
  }

  get weekday(): number {
    return (((this.days + 4) % 7) + 7) % 7;
  }

  /** 1 to 366. */
  get yearDay(): number {
    return this.days - daysFromCivil(this.date.year, 1, 1) + 1;
  }

  get isZero(): boolean {
    return this.unix === unixOfYearOne && this.nanosecond === 0;
  }

  in(zone: Zone): GoTime {
    return new GoTime(this.unix, this.nanosecond, zone, this.monotonic);
  }

  toString(): string {
    const shown = printGoTime(this, '2006-01-02 15:04:05.999999999 -0700 MST');
    if (this.monotonic === undefined) return shown;
    const size = this.monotonic.toString().padStart(10, '0');
    return `${shown} m=+${size.slice(0, -9)}.${size.slice(-9)}`;
  }
}

/** Go's zero time. */
export const zeroTime = new GoTime(unixOfYearOne, 0, utc);
