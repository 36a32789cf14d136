//! The line of those who wait to open a context, without a runtime or a clock.

use super::*;
use std::task::Wake;

const MS: u64 = 1_000_000;

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Contexts that no thread watches, and tasks that want one.
struct Scene {
    contexts: Arc<Contexts>,
    seats: Vec<Arc<Seat>>,
    woken: Vec<Arc<Woken>>,
    now_ns: u64,
}

impl Scene {
    fn new(processors: usize, workers: usize, tasks: usize) -> Self {
        let contexts = Contexts::new(processors, workers);
        contexts.line().watched = true;
        Self {
            contexts: Arc::new(contexts),
            seats: (0..tasks).map(|_| Arc::default()).collect(),
            woken: (0..tasks).map(|_| Arc::default()).collect(),
            now_ns: 0,
        }
    }

    fn enter(&self, task: usize) -> bool {
        let waker = Waker::from(self.woken[task].clone());
        let contexts = &self.contexts;
        contexts.enter(&self.seats[task], &waker, self.now_ns)
    }

    /// All want one, in order.
    fn enter_all(&self) {
        for task in 0..self.seats.len() {
            self.enter(task);
        }
    }

    fn leave(&self, task: usize) {
        self.contexts.leave(&self.seats[task]);
    }

    /// These work, and time passes.
    fn pass(&mut self, ms: u64, working: &[usize]) {
        for _ in 0..ms {
            for &task in working {
                self.seats[task].sign();
            }
            self.now_ns += MS;
            self.contexts.visit(self.now_ns);
        }
    }

    fn at_work(&self) -> Vec<usize> {
        let of = |wanted: fn(&Seat) -> bool| {
            let seats = self.seats.iter().enumerate();
            let found = seats.filter(move |(_, seat)| wanted(seat));
            found.map(|(task, _)| task).collect::<Vec<_>>()
        };
        let at_work = of(Seat::is_at_work);
        assert_eq!(self.contexts.line().at_work.len(), at_work.len());
        assert_eq!(self.contexts.line().waiting.len(), of(Seat::waits).len());
        at_work
    }

    fn woken(&self, task: usize) -> usize {
        self.woken[task].0.load(Relaxed)
    }
}

#[test]
fn as_many_are_at_work_as_there_are_processors_and_others_follow_in_order() {
    let scene = Scene::new(3, 8, 50);
    scene.enter_all();
    assert_eq!(scene.at_work(), [0, 1, 2]);
    for done in 0..50 {
        scene.leave(done);
        // The next one, and no other, is woken.
        let working: Vec<_> = (done + 1..(done + 4).min(50)).collect();
        assert_eq!(scene.at_work(), working);
        let woken = (0..50).filter(|&task| scene.woken(task) > 0).count();
        assert_eq!(woken, (done + 1).min(47));
    }
    assert!((3..50).all(|task| scene.woken(task) == 1));
    assert!(scene.contexts.line().waiting.is_empty());
}

#[test]
fn no_more_are_inside_of_a_runtime_than_it_has_workers() {
    let scene = Scene::new(4, 1, 6);
    scene.enter_all();
    assert_eq!(scene.at_work(), [0]);
    // While another thread works for one, the next may open its context.
    scene.contexts.away(&scene.seats[0]);
    assert_eq!(scene.at_work(), [0, 1]);
    for task in 1..4 {
        scene.contexts.away(&scene.seats[task]);
    }
    // All processors work.
    assert_eq!(scene.at_work(), [0, 1, 2, 3]);
    scene.seats[0].ended();
    assert_eq!(scene.at_work(), [0, 1, 2, 3]);
    scene.seats[0].seen(true);
    scene.leave(0);
    assert_eq!(scene.at_work(), [1, 2, 3, 4]);
    for task in 1..4 {
        scene.seats[task].seen(false);
        scene.leave(task);
    }
    assert_eq!(scene.at_work(), [4]);
}

#[test]
fn a_task_that_leaves_the_line_is_not_called() {
    let scene = Scene::new(2, 2, 6);
    scene.enter_all();
    scene.leave(2);
    scene.leave(4);
    scene.leave(4);
    scene.leave(0);
    assert_eq!(scene.at_work(), [1, 3]);
    scene.leave(1);
    assert_eq!(scene.at_work(), [3, 5]);
    assert!([2, 4].iter().all(|&task| scene.woken(task) == 0));
    // One that was called and is dropped before it looks passes its turn on.
    let scene = Scene::new(2, 2, 4);
    scene.enter_all();
    scene.leave(0);
    assert_eq!((scene.woken(2), scene.woken(3)), (1, 0));
    scene.leave(2);
    assert_eq!(scene.woken(3), 1);
    assert_eq!(scene.at_work(), [1, 3]);
}

#[test]
fn a_task_that_was_admitted_and_is_not_polled_again_holds_up_no_other() {
    let mut scene = Scene::new(2, 2, 10);
    scene.enter_all();
    // None of them works: after a while each place goes to the next, in order.
    for called in (2..10).step_by(2) {
        scene.pass(4, &[]);
        assert_eq!(scene.at_work(), [called, called + 1]);
    }
    // One that comes back is at work as well as those that were admitted.
    scene.contexts.come_back(&scene.seats[1]);
    assert_eq!(scene.at_work(), [1, 8, 9]);
}

#[test]
fn who_works_waits_for_a_turn_or_is_away_keeps_its_place() {
    let mut scene = Scene::new(3, 3, 5);
    scene.enter_all();
    scene.contexts.away(&scene.seats[0]);
    scene.seats[1].waits_for_turn(true);
    scene.pass(100, &[2]);
    assert_eq!(scene.at_work(), [0, 1, 2]);
    // A task whose work has ended may take a little longer to see that.
    scene.seats[0].ended();
    scene.pass(9, &[2]);
    assert_eq!(scene.at_work(), [0, 1, 2]);
    scene.pass(4, &[2]);
    assert_eq!(scene.at_work(), [1, 2, 3]);
    scene.seats[1].waits_for_turn(false);
    scene.pass(6, &[2, 3]);
    assert_eq!(scene.at_work(), [2, 3, 4]);
    // Work that has ended and was never seen does not count.
    scene.seats[0].seen(true);
    scene.leave(0);
    assert_eq!(scene.at_work(), [2, 3, 4]);
}

#[test]
fn who_pauses_makes_room_only_while_others_wait() {
    let scene = Scene::new(2, 2, 3);
    assert!(scene.enter(0) && scene.enter(1));
    scene.contexts.pause(&scene.seats[0]);
    assert_eq!(scene.at_work(), [0, 1]);
    assert!(!scene.enter(2));
    scene.contexts.pause(&scene.seats[0]);
    assert_eq!(scene.at_work(), [1, 2]);
    scene.contexts.pause(&scene.seats[0]);
    assert_eq!(scene.at_work(), [1, 2]);
}

#[test]
fn an_endless_task_does_not_starve_others() {
    let mut scene = Scene::new(2, 2, 6);
    scene.enter_all();
    let mut ms = 0;
    while scene.at_work().len() < 6 {
        // Others that come and go do not count as progress of the line.
        let guest = Arc::<Seat>::default();
        scene.contexts.come_back(&guest);
        scene.pass(1, &[0, 1, 2, 3, 4, 5]);
        scene.contexts.leave(&guest);
        ms += 1;
        assert!(ms < 4 * 410, "{:?}", scene.at_work());
    }
    assert!(ms > 4 * (PATIENCE_NS / MS), "{ms}");
    // In order of arrival.
    assert_eq!(scene.at_work(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_long_line_behind_tasks_without_end_is_short_after_ten_seconds() {
    let mut scene = Scene::new(2, 2, 200);
    scene.enter_all();
    let all: Vec<usize> = (0..200).collect();
    let mut ms = 0;
    while scene.at_work().len() < 200 {
        scene.pass(1, &all);
        ms += 1;
        assert!(ms < 10_000 + 2 * 200, "{}", scene.at_work().len());
        // As long as the first ones could still end, they are waited for.
        assert!(ms > 10_000 || scene.at_work().len() <= 2 + 25);
    }
    assert_eq!(scene.at_work(), all);
}

#[test]
fn the_first_in_line_goes_on_while_a_worker_has_nothing_to_do() {
    let mut scene = Scene::new(2, 2, 5);
    scene.enter_all();
    // Connections that come back all the time.
    scene.pass(10, &[0, 1]);
    assert_eq!(scene.at_work(), [0, 1]);
    scene.now_ns += MS;
    scene.contexts.look(scene.now_ns, true);
    assert_eq!(scene.at_work(), [0, 1, 2]);
    scene.contexts.look(scene.now_ns, false);
    assert_eq!(scene.at_work(), [0, 1, 2]);
    // Not while others work for them.
    scene.contexts.away(&scene.seats[0]);
    scene.contexts.away(&scene.seats[1]);
    scene.contexts.look(scene.now_ns, true);
    assert_eq!(scene.at_work(), [0, 1, 2]);
}

#[test]
fn a_task_that_works_for_another_runtime_holds_up_no_task_of_this_one() {
    use crate::berth::Berth;

    let mut here = Scene::new(2, 2, 3);
    let there = Scene::new(2, 2, 0);
    let berths = [0, 1].map(|_| Berth::new(here.contexts.clone(), None));
    for berth in &berths {
        assert!(berth.enter(Waker::noop()));
    }
    here.now_ns = now_ns();
    assert!(!here.enter(0) && !there.contexts.visit(0));
    for _ in 0..5 {
        berths[0].sign(Some(&here.contexts));
        berths[1].sign(Some(&there.contexts));
        here.pass(1, &[]);
    }
    let places = here.contexts.line().at_work.len();
    assert!(here.seats[0].is_at_work());
    assert_eq!(places, 2);
    assert!(berths[0].seat().is_at_work() && !berths[1].seat().is_at_work());
}

#[test]
fn all_are_admitted_when_there_is_no_thread_to_watch() {
    let scene = Scene::new(2, 2, 5);
    scene.enter_all();
    scene.contexts.open();
    assert_eq!(scene.at_work(), [0, 1, 2, 3, 4]);
    assert!((2..5).all(|task| scene.woken(task) == 1));
    // A thread looks as long as it is needed, and ends.
    let contexts = Arc::new(Contexts::new(2, 2));
    let seats = [0, 1, 2, 3].map(|_| Arc::<Seat>::default());
    let woken = Arc::<Woken>::default();
    for seat in &seats {
        contexts.enter(seat, &Waker::from(woken.clone()), now_ns());
    }
    let start = std::time::Instant::now();
    while woken.0.load(Relaxed) < 2 || contexts.line().watched {
        assert!(start.elapsed().as_secs() < 60);
        std::thread::yield_now();
    }
    assert!(contexts.line().waiting.is_empty());
}
