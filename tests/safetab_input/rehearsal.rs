//! Synthetic persons, real blocks, and full size.

use super::*;

#[test]
fn persons_depend_on_the_seed_and_not_on_the_number_of_threads() {
    let (_, specification, geography) = read_all(Path::new(EXAMPLE));
    let folder = tempfile::tempdir().unwrap();
    let draw = |seed: u64, count: u64, threads: usize| {
        let path = folder.path().join("persons");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let population = Population::new(&geography, &specification, seed).unwrap();
        pool.install(|| population.write(count, &path, |_| {})).unwrap();
        fs::read(path).unwrap()
    };
    let one = draw(1, 100_000, 1);
    assert!(one == draw(1, 100_000, 3));
    assert!(one.starts_with(&draw(1, 70_000, 2)));
    assert!(!one.starts_with(&draw(2, 10, 2)));
    let text = String::from_utf8(one).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|row| row.split('|').collect()).collect();
    let share =
        |keep: &dyn Fn(&Vec<&str>) -> bool| rows.iter().filter(|row| keep(row)).count() as f64 / rows.len() as f64;
    // The shares are so distinct that no seed leaves these bounds.
    assert!((0.86..0.90).contains(&share(&|row| row[9] == "Null")));
    assert!((0.000_05..0.001).contains(&share(&|row| row[15] != "Null")));
    assert!((0.6..0.9).contains(&share(&|row| row[8].starts_with('1'))));
    assert!((0.1..0.3).contains(&share(&|row| row[16].starts_with('4'))));
    let blocks: BTreeSet<String> = rows.iter().map(|row| row[3..7].concat()).collect();
    assert!(blocks.len() < geography.len() && blocks.len() > geography.len() / 2);
    // One block with any weight, and one code.
    let path = folder.path().join("GRF-C.txt");
    write_geography(&Blocks::from_geoids(vec![10_010_001_001_000]).unwrap(), &path).unwrap();
    let config = read_settings(Path::new(EXAMPLE));
    let geography = read_geography(&path, &config);
    let specification = Specification::new(8, [code(9990)], Vec::new(), &[]);
    let persons = folder.path().join("few");
    for seed in 0..10 {
        Population::new(&geography, &specification, seed).unwrap().write(50, &persons, |_| {}).unwrap();
        let all = (config.clone(), specification.clone(), geography.clone());
        let (found, report) = check(&persons, &all);
        assert!(report.is_empty() && found.records == 50 && found.combinations.len() == 1, "{report}");
    }
}

const RHODE_ISLAND: [&str; 2] = ["BlockAssign_ST44_RI_INCPLACE_CDP.txt", "BlockAssign_ST44_RI_AIANNH.txt"];

fn rhode_island(folder: &Path) -> Blocks {
    let [places, areas] = RHODE_ISLAND.map(|name| folder.join(name));
    let mut blocks = Blocks::read(&places).unwrap();
    blocks.attach(Entity::Place, &places, None, "PLACEFP").unwrap();
    blocks.attach(Entity::Aian, &areas, None, "AIANNHCE").unwrap();
    blocks
}

#[test]
fn rhode_island_becomes_a_grf_c() {
    let Some(folder) = facts("geography/rhode-island") else { return };
    let Some(production) = facts("safetab/production") else { return };
    let [places, areas] = RHODE_ISLAND;
    let blocks = rhode_island(&folder);
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("GRF-C.txt");
    write_geography(&blocks, &path).unwrap();
    let config = read_settings(&production);
    let specification = read_specification(&production, &config);
    let geography = read_geography(&path, &config);
    // The contents of the files, line by line.
    let column = |name: &str| -> Vec<(u64, String)> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let row =
            |row: &str| row.split_once('|').map(|(block, rest)| (block.parse().unwrap(), rest.to_string())).unwrap();
        text.lines().skip(1).map(row).collect()
    };
    assert_eq!(geography.len(), column(places).len());
    for (geoid, place) in column(places) {
        let region = geography.region(geography.find(geoid).unwrap(), RegionType::Place);
        let region = region.map(|region| geography.entities(RegionType::Place)[region as usize].as_str());
        assert_eq!(region.unwrap_or_default(), if place.is_empty() { String::new() } else { format!("44{place}") });
    }
    let in_area = column(areas).iter().filter(|(_, area)| !area.starts_with('|')).count();
    let found =
        (0..geography.len() as u32).filter(|block| geography.region(*block, RegionType::Aiannh).is_some()).count();
    assert_eq!(found, in_area);
    assert_eq!(geography.entities(RegionType::Aiannh), ["2415"]);
    assert_eq!(geography.entities(RegionType::County).len(), 5);
    // Persons on it, with the real codes.
    let persons = out.path().join("persons.txt");
    Population::new(&geography, &specification, 44).unwrap().write(100_000, &persons, |_| {}).unwrap();
    let all = (config, specification, geography);
    let (found, report) = check(&persons, &all);
    assert!(report.is_empty(), "{report}");
    assert_eq!((found.records, found.united_states), (100_000, 100_000));
    for combination in &found.combinations {
        for (granularity, level) in classes() {
            assert!(all.1.iterations(combination, granularity, level).unwrap().len() <= 9);
        }
    }
}

#[test]
#[ignore = "ten million records, one minute and 800 MB of disk"]
fn ten_million_records_are_checked_in_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("GRF-C.txt");
    let all = match facts("geography/rhode-island").zip(facts("safetab/production")) {
        Some((files, production)) => {
            let blocks = rhode_island(&files);
            write_geography(&blocks, &out).unwrap();
            let config = read_settings(&production);
            (config.clone(), read_specification(&production, &config), read_geography(&out, &config))
        }
        None => read_all(Path::new(EXAMPLE)),
    };
    let path = folder.path().join("person-records.txt");
    let began = Instant::now();
    Population::new(&all.2, &all.1, 1).unwrap().write(10_000_000, &path, |_| {}).unwrap();
    let invented = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let (persons, report) = check(&path, &all);
    let checked = began.elapsed().as_secs_f64();
    let combinations = persons.combinations.len();
    eprintln!(
        "{} records, {combinations} combinations: invented in {invented:.1} s, checked in {checked:.1} s",
        persons.records
    );
    assert!(report.is_empty() && persons.records == 10_000_000);
    assert!(invented < 30.0 && checked < 20.0);
}

#[test]
#[ignore = "a nation of eight million blocks, half a minute, 250 MB of disk and half a GB of memory"]
fn a_nation_of_blocks_is_read_in_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let config = read_settings(Path::new(EXAMPLE));
    let path = folder.path().join("GRF-C.txt");
    let block = |number: u64| (1 + number % 2) * 10_u64.pow(13) + number / 100 * 10_000 + number % 100;
    write_geography(&Blocks::from_geoids((0..8_000_000).map(block).collect()).unwrap(), &path).unwrap();
    let began = Instant::now();
    let geography = read_geography(&path, &config);
    eprintln!("{} blocks in {:.1} s", geography.len(), began.elapsed().as_secs_f64());
    assert_eq!(geography.len(), 8_000_000);
    assert!(began.elapsed().as_secs() < 30);
}
